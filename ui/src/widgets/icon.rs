//! Small line drawings, 24 by 24, drawn with the current colour.

use leptos::prelude::*;

/// The drawing for a tool or a purpose; a plain dot where the name is not known.
pub fn icon(name: &str) -> impl IntoView + use<> {
    view! {
        <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
            <path d=path(name) />
        </svg>
    }
}

fn path(name: &str) -> &'static str {
    match name {
        "click" | "move" | "drag" | "mouseDown" | "mouseUp" | "webClick" => "M5 3l5.2 15.5 2.5-6.3 6.3-2.5z",
        "scroll" => "M12 3v18M7.5 7.5L12 3l4.5 4.5M7.5 16.500L12 21l4.5-4.5",
        "type" | "webType" => "M5 6V4h14v2M12 4v16M9 20h6",
        "press" | "hotkey" | "hold" | "keyDown" | "keyUp" => {
            "M3 7h18v10H3zM7 10.500h.01M12 10.500h.01M17 10.500h.01M8 14h8"
        }
        "elementsJson" | "webElements" | "listApps" => "M4 5h6v6H4zM14 7h6M14 10h4M4 15h16M4 19h11",
        "readText" | "webRead" => "M4 8V4h4M16 4h4v4M20 16v4h-4M8 20H4v-4M8 9h8M8 12h8M8 15h5",
        "focusElement" | "clickElement" | "setValue" | "doAction" | "pressMenu" => {
            "M4 8V4h4M16 4h4v4M20 16v4h-4M8 20H4v-4M12 12h.01"
        }
        "screenshot" | "zoom" | "displays" => "M3 5h18v12H3zM9 21h6M12 17v4",
        "wait" => "M12 3a9 9 0 100 18 9 9 0 000-18zM12 7.500V12l3 2",
        "think" => {
            "M9 18h6M10 21h4M12 3a6 6 0 00-3.5 10.900c.6.5 1 1.100 1 1.800h5c0-.7.4-1.300 1-1.800A6 6 0 0012 3z"
        }
        "done" => "M4.5 12.500l5 5L19.5 7",
        "batch" => "M12 3l9 5-9 5-9-5zM3 12.500l9 5 9-5M3 16.500l9 5 9-5",
        "osa" => "M4 5h16v14H4zM8 10l3 2.500L8 15M13 15h3",
        "work" | "plan" => "M4 6h16M4 12h10M4 18h7",
        "settings" => "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.500v5M9 14.500v5",
        "plus" => "M12 5v14M5 12h14",
        "stop" => "M7 7h10v10H7z",
        "pause" => "M9 6v12M15 6v12",
        "resume" | "run" | "launchApp" => "M7 5l11 7-11 7z",
        "down" => "M12 4v15M5.5 12.500l6.5 6.5 6.5-6.5",
        "send" => "M12 20V5M5.5 11.500L12 5l6.5 6.5",
        "window" | "listWindows" | "focusWindow" | "changeWindow" | "webNavigate" | "webTabs" | "webTab"
        | "webTabEdit" => "M4 5h16v14H4zM4 9h16",
        "folder" | "listFiles" | "makeFolder" => "M3 6h6l2 2.500h10V19H3z",
        "readFile" | "writeFile" | "editFile" | "moveFile" => "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
        "trashFile" => "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
        "searchFiles" | "webSearch" => {
            "M10.500 4a6.500 6.500 0 100 13 6.500 6.500 0 000-13zM15.500 15.500L20 20"
        }
        "runCommand" | "readCommand" | "typeCommand" | "stopCommand" => {
            "M4 5h16v14H4zM8 10l3 2.500L8 15M13 15h3"
        }
        "listEvents" | "createEvent" | "changeEvent" | "deleteEvent" => "M4 6h16v14H4zM4 10h16M8 3v4M16 3v4",
        "listReminders" | "createReminder" | "changeReminder" | "deleteReminder" => {
            "M4 7l2 2 3-3.500M12 7h8M4 16l2 2 3-3.500M12 16h8"
        }
        "undo" => "M4 10h10a5.500 5.500 0 010 11H9M8 5.500L3.500 10 8 14.500",
        "more" => "M6 12h.01M12 12h.01M18 12h.01",
        "zoomIn" => "M10.500 4a6.500 6.500 0 100 13 6.500 6.500 0 000-13zM15.500 15.500L20 20",
        "branch" => "M7 4v16M7 12c6 0 10-2 10-7M14 8l3-3 3 3",
        "close" | "quitApp" => "M6 6l12 12M18 6L6 18",
        "shield" => "M12 3l7.5 3v5.500c0 4.5-3 8-7.5 9.5-4.5-1.5-7.5-5-7.5-9.500V6zM12 8v4.500M12 16h.01",
        _ => "M12 9.500a2.5 2.5 0 100 5 2.5 2.5 0 000-5z",
    }
}
