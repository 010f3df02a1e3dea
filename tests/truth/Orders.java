/** Orders, in Swing. */

import java.awt.*;
import java.io.*;
import java.util.*;
import java.util.function.*;
import javax.swing.*;
import javax.swing.event.*;
import javax.swing.text.*;
import javax.swing.tree.*;

class Orders {
    /** What is said in the status line, too; but for one button that shows nothing. */
    static final Set<String> SAID = Set.of("pressed", "tool", "menu", "context", "more", "dialog", "file");
    static final Map<String, String> last = new HashMap<>();
    static int number = 0;
    static Orders open;

    final Map<String, JComponent> named = new HashMap<>();
    final JFrame frame = new JFrame("Orders");
    final JPanel spacer = new JPanel();
    final JLabel said = new JLabel(" ");
    JDialog above;
    boolean reverting;

    static synchronized void log(String key, Object value) {
        System.out.println("@" + key + "=" + String.valueOf(value).replace("\\", "\\\\").replace("\n", "\\n"));
        System.out.flush();
        if (SAID.contains(key) && !value.equals("Quiet")) open.said.setText(key + ": " + value);
    }

    static void tell(String key, Object value) {
        if (!String.valueOf(value).equals(last.put(key, String.valueOf(value)))) log(key, value);
    }

    Orders() {
        last.clear();
        var left = column(buttons(), marks(), choices(), texts());
        var right = column(numbers(), animals(), places(), stock(), tabs());
        var columns = row(left, right);
        frame.setJMenuBar(menus());
        var tools = new JToolBar("Tools");
        for (var label : new String[] {"Cut", "Stamp"}) tools.add(press(label, "tool"));
        spacer.setPreferredSize(new Dimension(1, 1));
        frame.add(column(spacer, tools, columns, said), BorderLayout.NORTH);
        frame.setBounds(20, 40, 900, 680);
        frame.setDefaultCloseOperation(WindowConstants.DISPOSE_ON_CLOSE);
        frame.addWindowListener(new java.awt.event.WindowAdapter() {
            @Override public void windowOpened(java.awt.event.WindowEvent e) { log("ready", number); }
        });
        frame.setVisible(true);
    }

    static JComponent column(JComponent... all) {
        var box = new JPanel();
        box.setLayout(new BoxLayout(box, BoxLayout.Y_AXIS));
        for (var one : all) {
            one.setAlignmentX(0);
            box.add(one);
        }
        return box;
    }

    static JComponent row(JComponent... all) {
        var box = new JPanel(new GridLayout(1, 0, 4, 4));
        for (var one : all) box.add(one);
        return box;
    }

    static JComponent scrolled(JComponent inside, int height) {
        var pane = new JScrollPane(inside);
        pane.setPreferredSize(new Dimension(300, height));
        return pane;
    }

    <T extends JComponent> T name(T widget, String name) {
        named.put(name, widget);
        widget.getAccessibleContext().setAccessibleName(name);
        return widget;
    }

    JButton press(String label, String key) {
        var button = new JButton(label);
        button.addActionListener(e -> log(key, button.getText()));
        named.put(label, button);
        return button;
    }

    JComponent buttons() {
        var choose = new JButton("Open...");
        choose.addActionListener(e -> choose());
        var canvas = new JLabel("Canvas");
        canvas.setPreferredSize(new Dimension(100, 30));
        canvas.setComponentPopupMenu(popup("context", "Paint red", "Paint blue"));
        var more = new JButton("More");
        more.addActionListener(e -> popup("more", "Export", "Share").show(more, 0, more.getHeight()));
        return column(row(press("Press me", "pressed"), press("Archive", "pressed"), press("Quiet", "pressed")),
            row(choose, more), row(canvas));
    }

    JComponent marks() {
        var agree = new JCheckBox("Agree");
        agree.addItemListener(e -> log("agree", agree.isSelected() ? "on" : "off"));
        named.put("Agree", agree);
        var row = row(agree);
        var group = new ButtonGroup();
        for (var label : new String[] {"Small", "Medium", "Large"}) {
            var radio = new JRadioButton(label, label.equals("Small"));
            radio.addItemListener(e -> { if (radio.isSelected()) log("size", label); });
            group.add(radio);
            row.add(radio);
        }
        var beta = new JCheckBox("Beta");
        beta.addItemListener(e -> {
            log("beta", beta.isSelected() ? "on" : "off");
            if (beta.isSelected()) later(() -> beta.setSelected(false));
        });
        row.add(beta);
        return row;
    }

    JComponent choices() {
        var fruit = name(new JComboBox<>(new String[] {"Apple", "Banana", "Cherry", "Damson"}), "Fruit");
        fruit.addActionListener(e -> tell("fruit", fruit.getSelectedItem()));
        var city = name(new JComboBox<>(new String[] {"Paris", "London", "Rome"}), "City");
        city.setEditable(true);
        city.setSelectedItem("");
        var inside = (JTextField) city.getEditor().getEditorComponent();
        inside.getAccessibleContext().setAccessibleName("City");
        follow(inside, "city");
        return row(fruit, city);
    }

    void follow(JTextComponent field, String key) {
        heard(field, () -> tell(key, field.getText()));
    }

    void heard(JTextComponent field, Runnable then) {
        field.getDocument().addDocumentListener(new DocumentListener() {
            public void insertUpdate(DocumentEvent e) { then.run(); }
            public void removeUpdate(DocumentEvent e) { then.run(); }
            public void changedUpdate(DocumentEvent e) { }
        });
    }

    static void later(Runnable back) {
        var timer = new javax.swing.Timer(300, e -> back.run());
        timer.setRepeats(false);
        timer.start();
    }

    JComponent texts() {
        var name = name(new JTextField(), "Name");
        follow(name, "name");
        var secret = name(new JPasswordField(), "Secret");
        heard(secret, () -> tell("secret", new String(secret.getPassword())));
        var code = name(new JTextField(), "Code");
        heard(code, () -> {
            var text = code.getText();
            if (text.equals(text.toUpperCase())) tell("code", text);
            else SwingUtilities.invokeLater(() -> code.setText(code.getText().toUpperCase()));
        });
        var price = name(new JTextField("100"), "Price");
        heard(price, () -> {
            tell("price", price.getText());
            if (reverting || price.getText().equals("100")) return;
            reverting = true;
            later(() -> {
                price.setText("100");
                reverting = false;
            });
        });
        var notes = name(new JTextArea(), "Notes");
        follow(notes, "notes");
        return column(row(name, secret), row(code, price), scrolled(notes, 60));
    }

    JComponent numbers() {
        var count = name(new JSpinner(new SpinnerNumberModel(0, 0, 100, 1)), "Count");
        count.addChangeListener(e -> tell("count", count.getValue()));
        var volume = name(new JSlider(0, 100, 0), "Volume");
        volume.addChangeListener(e -> tell("volume", volume.getValue()));
        var limit = name(new JSpinner(new SpinnerNumberModel(0, 0, 100, 1)), "Limit");
        limit.addChangeListener(e -> {
            tell("limit", limit.getValue());
            if (!limit.getValue().equals(0)) later(() -> limit.setValue(0));
        });
        var first = new GregorianCalendar(2026, Calendar.JANUARY, 1, 9, 0).getTime();
        var day = moment("Day", "yyyy-MM-dd", first, text -> tell("day", text));
        var at = moment("At", "HH:mm", first, text -> tell("at", text));
        var due = moment("Due", "yyyy-MM-dd", first, text -> tell("due", text));
        due.addChangeListener(e -> { if (!due.getValue().equals(first)) later(() -> due.setValue(first)); });
        return column(row(count, limit, volume), row(day, due, at));
    }

    JSpinner moment(String name, String form, Date first, Consumer<String> then) {
        var moment = name(new JSpinner(new SpinnerDateModel(first, null, null, Calendar.DAY_OF_MONTH)), name);
        moment.setEditor(new JSpinner.DateEditor(moment, form));
        moment.addChangeListener(e -> then.accept(new java.text.SimpleDateFormat(form).format(moment.getValue())));
        return moment;
    }

    JComponent animals() {
        var box = name(new JList<>("Ant Bear Cat Dog Eel Fox Goat Hare Ibis Jay Kite Lynx Mole Newt".split(" ")), "Animals");
        box.addListSelectionListener(e -> { if (box.getSelectedValue() != null) tell("animal", box.getSelectedValue()); });
        return scrolled(box, 90);
    }

    JComponent places() {
        var root = new DefaultMutableTreeNode("Places");
        for (var region : new String[][] {{"Europe", "France", "Norway"}, {"Asia", "Japan", "Nepal"}}) {
            var parent = new DefaultMutableTreeNode(region[0]);
            for (var country : Arrays.asList(region).subList(1, region.length)) parent.add(new DefaultMutableTreeNode(country));
            root.add(parent);
        }
        var tree = name(new JTree(root), "Places");
        tree.setRootVisible(false);
        tree.setShowsRootHandles(true);
        tree.addTreeExpansionListener(new TreeExpansionListener() {
            public void treeExpanded(TreeExpansionEvent e) { tell("expanded", e.getPath().getLastPathComponent()); }
            public void treeCollapsed(TreeExpansionEvent e) { }
        });
        tree.addTreeSelectionListener(e -> { if (e.isAddedPath()) tell("place", e.getPath().getLastPathComponent()); });
        return scrolled(tree, 100);
    }

    JComponent stock() {
        var rows = new String[][] {{"Bolt", "12"}, {"Gear", "7"}, {"Nut", "30"}};
        var table = name(new JTable(rows, new String[] {"Part", "Left"}), "Stock");
        table.getSelectionModel().addListSelectionListener(e -> {
            if (table.getSelectedRow() >= 0) tell("part", table.getValueAt(table.getSelectedRow(), 0));
        });
        return scrolled(table, 90);
    }

    JComponent tabs() {
        var tabs = new JTabbedPane();
        for (var label : new String[] {"First", "Second", "Third"}) tabs.addTab(label, new JLabel(label + " page"));
        tabs.addChangeListener(e -> tell("tab", tabs.getTitleAt(tabs.getSelectedIndex())));
        return tabs;
    }

    JMenuItem item(String key, String label) {
        var item = new JMenuItem(label);
        item.addActionListener(e -> log(key, label));
        return item;
    }

    JPopupMenu popup(String key, String... labels) {
        var menu = new JPopupMenu();
        for (var label : labels) menu.add(item(key, label));
        return menu;
    }

    JMenu menu(String title, JMenuItem... items) {
        var menu = new JMenu(title);
        for (var item : items) menu.add(item);
        return menu;
    }

    JMenuBar menus() {
        var bar = new JMenuBar();
        var about = new JMenuItem("About");
        about.addActionListener(e -> {
            log("dialog", "open");
            JOptionPane.showOptionDialog(frame, "Orders 1.0", "About Orders", JOptionPane.DEFAULT_OPTION,
                JOptionPane.INFORMATION_MESSAGE, null, new String[] {"Close"}, "Close");
            log("dialog", "closed");
        });
        bar.add(menu("File", item("menu", "Save copy"), item("menu", "Print")));
        bar.add(menu("Edit", item("menu", "Undo all"), menu("Style", item("menu", "Bold"), item("menu", "Italic"))));
        bar.add(menu("Help", about));
        return bar;
    }

    void choose() {
        var chooser = new JFileChooser(new File("."));
        if (chooser.showOpenDialog(frame) == JFileChooser.APPROVE_OPTION) log("file", chooser.getSelectedFile().getName());
    }

    void modal() {
        var pane = new JOptionPane("Really?", JOptionPane.QUESTION_MESSAGE);
        pane.setOptions(new Object[] {"OK"});
        above = pane.createDialog(frame, "Question");
        pane.addPropertyChangeListener(JOptionPane.VALUE_PROPERTY, e -> log("modal", "answered"));
        SwingUtilities.invokeLater(() -> above.setVisible(true));
    }

    void close() {
        if (above != null) above.dispose();
        frame.dispose();
    }

    void obey(String name, String[] rest) {
        switch (name) {
            case "relabel" -> ((AbstractButton) named.get(rest[0])).setText(rest[1]);
            case "disable" -> named.get(rest[0]).setEnabled(false);
            case "push" -> { spacer.setPreferredSize(new Dimension(1, 70)); frame.revalidate(); }
            case "modal" -> modal();
            case "close" -> close();
            default -> throw new IllegalArgumentException(name);
        }
    }

    public static void main(String[] arguments) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (var line = lines.readLine(); line != null; line = lines.readLine()) {
            var words = line.split(" ", 2);
            SwingUtilities.invokeLater(() -> carryOut(words));
        }
    }

    static void carryOut(String[] words) {
        var rest = words.length > 1 ? words[1].split("\\|") : new String[0];
        switch (words[0]) {
            case "ping" -> log("pong", rest[0]);
            case "reset" -> {
                number++;
                if (open != null) open.close();
                open = new Orders();
            }
            default -> open.obey(words[0], rest);
        }
    }
}
