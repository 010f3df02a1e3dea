import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import javax.swing.*;
import javax.swing.event.*;
import javax.swing.tree.*;
import java.awt.*;

/** Every usual Swing widget. What each one was told to do is a line of the file named first. */
public class Swing {
    static PrintWriter log;

    static void log(Object... words) {
        StringBuilder line = new StringBuilder();
        for (Object word : words) line.append(line.length() > 0 ? "\t" : "").append(word);
        log.println(line);
    }


    public static void main(String[] args) throws IOException {
        log = new PrintWriter(new FileWriter(args[0], true), true);
        SwingUtilities.invokeLater(Swing::show);
    }

    static void show() {
        JPanel form = new JPanel(new GridLayout(0, 2, 4, 4));
        JButton push = new JButton("Push");
        push.addActionListener(e -> log("clicked", "push"));
        add(form, "Button", push);
        JCheckBox check = new JCheckBox("Check");
        check.addActionListener(e -> log("clicked", "check", check.isSelected()));
        add(form, "Box", check);
        JComboBox<String> combo = new JComboBox<>(new String[] {"Apple", "Banana", "Cherry"});
        combo.addActionListener(e -> log("activated", "fruit", combo.getSelectedItem()));
        add(form, "Fruit", combo);
        JTextField name = new JTextField();
        texts(name, "name");
        add(form, "Name", name);
        JPasswordField secret = new JPasswordField();
        texts(secret, "secret");
        add(form, "Secret", secret);
        JTextArea notes = new JTextArea(3, 20);
        texts(notes, "notes");
        add(form, "Notes", new JScrollPane(notes));
        ((JLabel) form.getComponent(form.getComponentCount() - 2)).setLabelFor(notes);
        JSpinner spin = new JSpinner(new SpinnerNumberModel(1, 0, 9, 1));
        spin.addChangeListener(e -> log("changed", "count", spin.getValue()));
        add(form, "Count", spin);
        JSlider slider = new JSlider(0, 100, 50);
        slider.addChangeListener(e -> log("changed", "volume", slider.getValue()));
        add(form, "Volume", slider);
        JList<String> list = new JList<>(new String[] {"one", "two", "three"});
        list.addListSelectionListener(e -> log("selected", "list", list.getSelectedValue()));
        add(form, "List", new JScrollPane(list));
        JTree tree = new JTree();
        tree.addTreeSelectionListener(e -> log("selected", "tree", e.getPath().getLastPathComponent()));
        tree.addTreeExpansionListener(new TreeExpansionListener() {
            public void treeExpanded(TreeExpansionEvent e) { log("expanded", e.getPath().getLastPathComponent()); }
            public void treeCollapsed(TreeExpansionEvent e) { log("collapsed", e.getPath().getLastPathComponent()); }
        });
        add(form, "Tree", new JScrollPane(tree));
        JTabbedPane tabs = new JTabbedPane();
        tabs.addTab("First", form);
        tabs.addTab("Second", new JLabel("the second page"));
        tabs.addChangeListener(e -> log("page", tabs.getTitleAt(tabs.getSelectedIndex())));
        JMenuBar bar = new JMenuBar();
        JMenu file = new JMenu("File");
        JMenuItem open = new JMenuItem("Open...");
        open.addActionListener(e -> log("open"));
        file.add(open);
        bar.add(file);
        JFrame frame = new JFrame("Swing widgets");
        frame.setDefaultCloseOperation(JFrame.EXIT_ON_CLOSE);
        frame.setJMenuBar(bar);
        frame.add(tabs);
        frame.setSize(640, 720);
        frame.setLocation(100, 20);
        frame.setVisible(true);
        log("ready");
    }

    static void add(JPanel form, String words, JComponent field) {
        JLabel label = new JLabel(words);
        label.setLabelFor(field);
        form.add(label);
        form.add(field);
    }

    static void texts(javax.swing.text.JTextComponent field, String name) {
        field.getDocument().addDocumentListener(new DocumentListener() {
            void tell() { log("changed", name, field.getText().replace("\n", "|")); }
            public void insertUpdate(DocumentEvent e) { tell(); }
            public void removeUpdate(DocumentEvent e) { tell(); }
            public void changedUpdate(DocumentEvent e) { }
        });
    }
}
