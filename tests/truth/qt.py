"""Orders, in Qt 5."""

import os
import sys

from PyQt5.QtCore import QAbstractTableModel, QDate, QObject, QTime, QTimer, Qt, pyqtSignal
from PyQt5.QtWidgets import (
    QAbstractItemView, QAction, QApplication, QCheckBox, QComboBox, QDateEdit, QFileDialog, QHBoxLayout, QLabel,
    QLineEdit, QListWidget, QListWidgetItem, QMainWindow, QMenu, QMessageBox, QPlainTextEdit, QPushButton,
    QRadioButton, QSlider, QSpinBox, QStackedWidget, QTableView, QTableWidget, QTableWidgetItem, QTabWidget, QTimeEdit,
    QToolButton, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget,
)

import orders
from orders import log


def line(kind, *widgets):
    inside = QWidget()
    layout = kind(inside)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(4)
    for widget in widgets:
        layout.addWidget(widget)
    return inside


def column(*widgets):
    return line(QVBoxLayout, *widgets)


def row(*widgets):
    return line(QHBoxLayout, *widgets)


class Window(QMainWindow):
    def __init__(self, number):
        super().__init__()
        self.tell = orders.Logged()
        self.named = {}
        self.setWindowTitle("Orders")
        self.menus()
        self.tools()
        columns = row(
            column(self.buttons(), self.marks(), self.choices(), self.texts()),
            column(self.numbers(), self.animals(), self.places(), self.stock(), self.tabs()),
        )
        self.spacer = QLabel()
        self.spacer.setFixedHeight(1)
        said = QLabel()
        orders.say = said.setText
        self.setCentralWidget(column(self.spacer, columns, said))
        self.setGeometry(20, 40, 900, 640)
        self.show()
        QTimer.singleShot(0, lambda: log("ready", number))

    def name(self, widget, name):
        self.named[name] = widget
        widget.setAccessibleName(name)
        return widget

    def press(self, label, key="pressed"):
        button = QPushButton(label)
        button.clicked.connect(lambda: log(key, button.text()))
        self.named[label] = button
        return button

    def buttons(self):
        chosen = QPushButton("Open...")
        chosen.clicked.connect(self.choose)
        canvas = QLabel("Canvas")
        canvas.setMinimumHeight(30)
        canvas.setContextMenuPolicy(Qt.CustomContextMenu)
        canvas.customContextMenuRequested.connect(lambda at: self.context(canvas.mapToGlobal(at)))
        more = QToolButton()
        more.setText("More")
        more.setPopupMode(QToolButton.InstantPopup)
        more.setMenu(self.menu("more", ["Export", "Share"]))
        return column(
            row(self.press("Press me"), self.press("Archive"), self.press("Quiet")), row(chosen, more), canvas
        )

    def marks(self):
        agree = QCheckBox("Agree")
        agree.clicked.connect(lambda on: log("agree", "on" if on else "off"))
        self.named["Agree"] = agree
        radios = [QRadioButton(label) for label in ("Small", "Medium", "Large")]
        radios[0].setChecked(True)
        for radio in radios:
            radio.clicked.connect(lambda on, radio=radio: on and log("size", radio.text()))
        beta = QCheckBox("Beta")
        beta.clicked.connect(lambda on: self.take_back("beta", "on" if on else "off", "off", beta.click))
        partly = QCheckBox("Partly")
        partly.setTristate(True)
        partly.setCheckState(Qt.PartiallyChecked)
        partly.stateChanged.connect(lambda state: log("partly", ("off", "between", "on")[state]))
        return row(agree, *radios, beta, partly)

    def choices(self):
        fruit = self.name(QComboBox(), "Fruit")
        fruit.addItems(orders.FRUIT)
        fruit.activated[str].connect(lambda text: self.tell("fruit", text))
        city = self.name(QComboBox(), "City")
        city.setEditable(True)
        city.addItems(orders.CITIES)
        city.setCurrentText("")
        city.currentTextChanged.connect(lambda text: self.tell("city", text))
        return row(fruit, city)

    def texts(self):
        name = self.name(QLineEdit(), "Name")
        name.textChanged.connect(lambda text: self.tell("name", text))
        secret = self.name(QLineEdit(), "Secret")
        secret.setEchoMode(QLineEdit.Password)
        secret.textChanged.connect(lambda text: self.tell("secret", text))
        code = self.name(QLineEdit(), "Code")
        code.textChanged.connect(lambda text: self.upper(code, text))
        price = self.name(QLineEdit("100"), "Price")
        price.textChanged.connect(lambda text: self.revert(price, text))
        notes = self.name(QPlainTextEdit(), "Notes")
        notes.textChanged.connect(lambda: self.tell("notes", notes.toPlainText()))
        notes.setFixedHeight(70)
        day = self.name(QDateEdit(QDate(2026, 1, 1)), "Day")
        day.setDisplayFormat("yyyy-MM-dd")
        day.dateChanged.connect(lambda date: self.tell("day", date.toString("yyyy-MM-dd")))
        first = QDate(2026, 1, 1)
        due = self.name(QDateEdit(first), "Due")
        due.setDisplayFormat("yyyy-MM-dd")
        due.dateChanged.connect(
            lambda date: self.take_back("due", date.toString("yyyy-MM-dd"), "2026-01-01", lambda: due.setDate(first)))
        at = self.name(QTimeEdit(QTime(9, 0)), "At")
        at.setDisplayFormat("HH:mm")
        at.timeChanged.connect(lambda time: self.tell("at", time.toString("HH:mm")))
        return column(row(name, secret), row(code, price), notes, row(day, due, at))

    def upper(self, code, text):
        if text != text.upper():
            QTimer.singleShot(0, lambda: code.setText(text.upper()))
        else:
            self.tell("code", text)

    def revert(self, price, text):
        self.tell("price", text)
        if text != "100":
            QTimer.singleShot(300, lambda: price.setText("100"))

    def take_back(self, key, value, first, put):
        self.tell(key, value)
        if value != first:
            QTimer.singleShot(300, put)

    def numbers(self):
        count = self.name(QSpinBox(), "Count")
        count.setRange(0, 100)
        count.valueChanged.connect(lambda value: self.tell("count", value))
        volume = self.name(QSlider(Qt.Horizontal), "Volume")
        volume.setRange(0, 100)
        volume.valueChanged.connect(lambda value: self.tell("volume", value))
        limit = self.name(QSpinBox(), "Limit")
        limit.setRange(0, 100)
        limit.valueChanged.connect(lambda value: self.take_back("limit", value, 0, lambda: limit.setValue(0)))
        return row(count, limit, volume)

    def animals(self):
        box = self.name(QListWidget(), "Animals")
        box.addItems(orders.ANIMALS)
        box.setFixedHeight(90)
        box.currentTextChanged.connect(lambda text: self.tell("animal", text))
        return box

    def places(self):
        tree = self.name(QTreeWidget(), "Places")
        tree.setHeaderLabel("Place")
        tree.setFixedHeight(110)
        for region, countries in (("Europe", orders.EUROPE), ("Asia", orders.ASIA)):
            parent = QTreeWidgetItem(tree, [region])
            for country in countries:
                QTreeWidgetItem(parent, [country])
        tree.itemExpanded.connect(lambda item: self.tell("expanded", item.text(0)))
        tree.currentItemChanged.connect(lambda item, _: item and self.tell("place", item.text(0)))
        return tree

    def stock(self):
        table = self.name(QTableWidget(len(orders.ROWS), 2), "Stock")
        table.setHorizontalHeaderLabels(["Part", "Left"])
        table.setFixedHeight(120)
        table.setEditTriggers(QAbstractItemView.NoEditTriggers)
        for at, item in enumerate(orders.ROWS):
            for column, text in enumerate(item):
                table.setItem(at, column, QTableWidgetItem(text))
        for at, state in ((1, Qt.Checked), (2, Qt.Unchecked)):
            table.item(at, 0).setCheckState(state)
        table.itemChanged.connect(lambda item: log("ticked", f"{item.text()} {item.checkState() == Qt.Checked}"))
        table.currentCellChanged.connect(lambda at, *_: at >= 0 and self.tell("part", orders.ROWS[at][0]))
        return table

    def tabs(self):
        tabs = QTabWidget()
        for label, page in (("First", QLabel("First page")), ("Second", self.second()), ("Third", self.third())):
            tabs.addTab(page, label)
        tabs.currentChanged.connect(lambda at: self.tell("tab", tabs.tabText(at)))
        return tabs

    def second(self):
        stack, rooms, many = QStackedWidget(), QListWidget(), QListWidget()
        for room in ("General", "Network", "Sound"):
            rooms.addItem(room)
            stack.addWidget(QLabel("page of " + room))
        rooms.currentRowChanged.connect(stack.setCurrentIndex)
        rooms.itemClicked.connect(lambda item: log("room", item.text()))
        many.setSelectionMode(QAbstractItemView.MultiSelection)
        many.addItems(["one", "two", "three"])
        many.itemSelectionChanged.connect(lambda: log("many", ",".join(item.text() for item in many.selectedItems())))
        hold = QPushButton("Hold")
        hold.setCheckable(True)
        hold.clicked.connect(lambda on: log("hold", "on" if on else "off"))
        year = self.name(QComboBox(), "Year")
        year.addItems([str(year) for year in range(1900, 2000)])
        year.activated[str].connect(lambda text: log("year", text))
        return row(rooms, many, column(stack, hold, year))

    def third(self):
        files = QListWidget()
        for name in ("old pond", "frog"):
            item = QListWidgetItem(name, files)
            item.setFlags(item.flags() | Qt.ItemIsEditable)
        files.itemChanged.connect(lambda item: log("renamed", item.text()))
        sheet = QTableView()
        sheet.setModel(Sheet(sheet))
        sheet.clicked.connect(lambda index: log("cell", index.data()))
        return row(files, sheet)

    def menu(self, key, labels, title=""):
        menu = QMenu(title, self)
        for label in labels:
            action = menu.addAction(label)
            action.triggered.connect(lambda _, action=action: log(key, action.text()))
        return menu

    def menus(self):
        bar = self.menuBar()
        bar.addMenu(self.menu("menu", ["Save copy", "Print"], "File"))
        edit = self.menu("menu", ["Undo all"], "Edit")
        edit.addMenu(self.menu("menu", ["Bold", "Italic"], "Style"))
        bar.addMenu(edit)
        about = QMenu("Help", self)
        about.addAction("About").triggered.connect(self.about)
        bar.addMenu(about)

    def about(self):
        box = QMessageBox(QMessageBox.Information, "About Orders", "Orders 1.0", QMessageBox.Close, self)
        log("dialog", "open")
        box.exec_()
        log("dialog", "closed")

    def choose(self):
        options = QFileDialog.DontUseNativeDialog
        path, _ = QFileDialog.getOpenFileName(self, "Open a file", os.getcwd(), options=options)
        if path:
            log("file", os.path.basename(path))

    def context(self, at):
        self.menu("context", ["Paint red", "Paint blue"]).popup(at)

    def tools(self):
        bar = self.addToolBar("Tools")
        for label in ("Cut", "Stamp"):
            action = QAction(label, self)
            action.triggered.connect(lambda _, action=action: log("tool", action.text()))
            bar.addAction(action)

    def relabel(self, old, new):
        self.named[old].setText(new)

    def disable(self, name):
        self.named[name].setEnabled(False)

    def push(self):
        self.spacer.setFixedHeight(70)

    def modal(self):
        self.above = QMessageBox(QMessageBox.Question, "Question", "Really?", QMessageBox.Ok, self)
        self.above.finished.connect(lambda _: log("modal", "answered"))
        self.above.open()

    def end(self):
        self.close()
        self.deleteLater()


class Sheet(QAbstractTableModel):
    """As large as a spreadsheet's."""

    def rowCount(self, parent=None):
        return 1_000_000

    def columnCount(self, parent=None):
        return 1_000

    def data(self, index, role=Qt.DisplayRole):
        return f"{index.row()}:{index.column()}" if role == Qt.DisplayRole else None


class App(QObject):
    heard = pyqtSignal(object)

    def __init__(self):
        super().__init__()
        self.number = 0
        self.open = None
        self.heard.connect(lambda do: do())
        commands = {name: lambda *a, name=name: getattr(self.open, name)(*a) for name in
                    ("relabel", "disable", "push", "modal")}
        commands |= {"reset": self.reset, "close": lambda: self.open.end(), "ping": lambda at: log("pong", at)}
        orders.obey(self.heard.emit, commands)

    def reset(self):
        self.number += 1
        if self.open and self.number > 1:
            try:
                self.open.end()
            except RuntimeError:
                pass  # its window was closed, and it is gone
        self.open = Window(self.number)


application = QApplication(sys.argv)
application.setQuitOnLastWindowClosed(False)
keep = App()
application.exec_()
