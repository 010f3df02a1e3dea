//! Calendars and reminders: CalDAV everywhere, EventKit on macOS. Knows nothing of tools, agents or windows.
