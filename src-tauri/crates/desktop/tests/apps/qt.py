"""Every usual Qt widget. What each one was told to do is a line of the file named first: the truth of the tests."""

import sys

from PyQt5 import QtCore, QtWidgets as W

LOG = open(sys.argv[1], "a", buffering=1, encoding="utf-8")


def log(*words):
    print(*words, sep="\t", file=LOG)


class Window(W.QMainWindow):
    def __init__(self):
        super().__init__()
        self.setWindowTitle("Qt widgets")
        tabs = W.QTabWidget()
        tabs.currentChanged.connect(lambda at: log("page", tabs.tabText(at)))
        tabs.addTab(self.first(), "First")
        tabs.addTab(self.second(), "Second")
        tabs.addTab(self.third(), "Third")
        self.setCentralWidget(tabs)
        self.menus()
        self.resize(760, 620)

    def menus(self):
        menu = self.menuBar().addMenu("&File")
        menu.addAction("&Open...", lambda: log("open"), "Ctrl+O")
        menu.addAction("Ask...", self.ask)
        check = menu.addAction("Wrap")
        check.setCheckable(True)
        check.toggled.connect(lambda on: log("wrap", on))
        bar = self.addToolBar("Tools")
        bar.addAction("Refresh", lambda: log("refresh"))

    def ask(self):
        self.box = W.QMessageBox(W.QMessageBox.Question, "Question", "Really?", W.QMessageBox.Close, self)
        self.box.finished.connect(lambda _: log("answered"))
        self.box.open()

    def first(self):
        form = W.QFormLayout()
        push = W.QPushButton("Push")
        push.clicked.connect(lambda: log("clicked", "push"))
        form.addRow("", push)
        check = W.QCheckBox("Check")
        check.clicked.connect(lambda on: log("clicked", "check", on))
        check.toggled.connect(lambda on: log("toggled", "check", on))
        form.addRow("", check)
        hold = W.QPushButton("Hold")
        hold.setCheckable(True)
        hold.clicked.connect(lambda on: log("clicked", "hold", on))
        form.addRow("", hold)
        for name in ("Red", "Blue"):
            radio = W.QRadioButton(name)
            radio.clicked.connect(lambda on, name=name: log("clicked", name, on))
            form.addRow("", radio)
        combo = W.QComboBox()
        combo.addItems(["Apple", "Banana", "Cherry"])
        combo.activated[str].connect(lambda text: log("activated", "fruit", text))
        combo.currentTextChanged.connect(lambda text: log("changed", "fruit", text))
        form.addRow("Fruit", combo)
        size = W.QComboBox()
        size.setEditable(True)
        size.addItems(["8", "10", "12"])
        size.currentTextChanged.connect(lambda text: log("changed", "size", text))
        size.activated[str].connect(lambda text: log("activated", "size", text))
        form.addRow("Size", size)
        year = W.QComboBox()
        year.addItems([str(year) for year in range(1900, 2000)])
        year.activated[str].connect(lambda text: log("activated", "year", text))
        form.addRow("Year", year)
        spin = W.QSpinBox()
        spin.setRange(0, 99)
        spin.valueChanged.connect(lambda value: log("changed", "count", value))
        form.addRow("Count", spin)
        slider = W.QSlider(QtCore.Qt.Horizontal)
        slider.setRange(0, 100)
        slider.valueChanged.connect(lambda value: log("changed", "volume", value))
        form.addRow("Volume", slider)
        name = W.QLineEdit()
        name.textChanged.connect(lambda text: log("changed", "name", text))
        name.returnPressed.connect(lambda: log("entered", "name", name.text()))
        form.addRow("Name", name)
        code = W.QLineEdit()
        code.setMaxLength(4)
        code.textEdited.connect(lambda text: code.setText(text.upper()))
        code.textChanged.connect(lambda text: code.setText(text.upper()))
        form.addRow("Code", code)
        secret = W.QLineEdit()
        secret.setEchoMode(W.QLineEdit.Password)
        secret.textChanged.connect(lambda text: log("changed", "secret", text))
        form.addRow("Secret", secret)
        date = W.QDateEdit(QtCore.QDate(2026, 1, 2))
        date.setDisplayFormat("yyyy-MM-dd")
        date.dateChanged.connect(lambda value: log("changed", "date", value.toString("yyyy-MM-dd")))
        form.addRow("Date", date)
        text = W.QTextEdit()
        text.setMaximumHeight(70)
        text.textChanged.connect(lambda: log("changed", "notes", text.toPlainText().replace("\n", "|")))
        form.addRow("Notes", text)
        page = W.QWidget()
        page.setLayout(form)
        return page

    def second(self):
        box = W.QHBoxLayout()
        stack = W.QStackedWidget()
        self.places = W.QListWidget()
        for name in ("General", "Network", "Sound", "About"):
            self.places.addItem(name)
            stack.addWidget(W.QLabel("page of " + name))
        self.places.currentRowChanged.connect(stack.setCurrentIndex)
        self.places.itemClicked.connect(lambda item: log("clicked", "item", item.text()))
        self.places.itemSelectionChanged.connect(
            lambda: log("selected", ",".join(item.text() for item in self.places.selectedItems()))
        )
        box.addWidget(self.places)
        box.addWidget(stack)
        self.many = W.QListWidget()
        self.many.setSelectionMode(W.QAbstractItemView.MultiSelection)
        self.many.addItems(["one", "two", "three"])
        self.many.itemClicked.connect(lambda item: log("clicked", "many", item.text()))
        self.many.itemSelectionChanged.connect(
            lambda: log("chosen", ",".join(item.text() for item in self.many.selectedItems()))
        )
        box.addWidget(self.many)
        self.tree = W.QTreeWidget()
        self.tree.setHeaderLabels(["Name", "Size"])
        top = W.QTreeWidgetItem(self.tree, ["Documents", "2"])
        W.QTreeWidgetItem(top, ["letter.txt", "1 kB"])
        W.QTreeWidgetItem(self.tree, ["Pictures", "0"])
        backup = W.QTreeWidgetItem(self.tree, ["Backup", "9"])
        backup.setCheckState(0, QtCore.Qt.Unchecked)
        self.tree.itemChanged.connect(lambda it, _: log("ticked", it.text(0), it.checkState(0) == QtCore.Qt.Checked))
        self.tree.itemClicked.connect(lambda item: log("clicked", "tree", item.text(0)))
        self.tree.itemExpanded.connect(lambda item: log("expanded", item.text(0)))
        box.addWidget(self.tree)
        page = W.QWidget()
        page.setLayout(box)
        return page


    def third(self):
        box = W.QHBoxLayout()
        files = W.QListWidget()
        for name in ("old pond", "frog"):
            item = W.QListWidgetItem(name, files)
            item.setFlags(item.flags() | QtCore.Qt.ItemIsEditable)
        files.itemChanged.connect(lambda item: log("renamed", repr(item.text())))
        box.addWidget(files)
        sheet = W.QTableView()
        sheet.setModel(Sheet(sheet))
        sheet.clicked.connect(lambda index: log("clicked", "cell", index.data()))
        box.addWidget(sheet)
        page = W.QWidget()
        page.setLayout(box)
        return page


class Sheet(QtCore.QAbstractTableModel):
    """As large as a spreadsheet's."""

    def rowCount(self, parent=None):
        return 1_000_000

    def columnCount(self, parent=None):
        return 1_000

    def data(self, index, role=QtCore.Qt.DisplayRole):
        return f"{index.row()}:{index.column()}" if role == QtCore.Qt.DisplayRole else None


application = W.QApplication(sys.argv[:1])
window = Window()
window.show()
log("ready")
application.exec_()
