//! Applications as the Start menu knows them, by the shell's `AppsFolder`: desktop programs and store apps alike.
#![expect(unsafe_code, reason = "COM and C functions of the system; each block says what makes it sound")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use windows::Win32::System::Com::{COINIT_MULTITHREADED, CoInitializeEx, CoTaskMemFree, CoUninitialize};
use windows::Win32::UI::Shell::{
    BHID_EnumItems, FOLDERID_AppsFolder, IEnumShellItems, IShellItem, KF_FLAG_DEFAULT, SHGetKnownFolderItem,
    SIGDN, SIGDN_NORMALDISPLAY, SIGDN_PARENTRELATIVEPARSING,
};

use crate::DesktopError;

/// COM for as long as it lives, on this thread.
struct Com;

impl Com {
    fn start() -> Option<Self> {
        // SAFETY: takes no pointers; a success is balanced by `drop`.
        unsafe { CoInitializeEx(None, COINIT_MULTITHREADED) }.is_ok().then_some(Self)
    }
}

impl Drop for Com {
    fn drop(&mut self) {
        // SAFETY: balances the success of `start`, on the same thread: the value is never sent.
        unsafe { CoUninitialize() };
    }
}

/// Name and what [`start`] takes; empty if the shell does not answer.
pub(super) fn applications() -> BTreeMap<String, PathBuf> {
    let _com = Com::start();
    list().unwrap_or_else(|error| {
        tracing::warn!(%error, "the shell does not list applications");
        BTreeMap::new()
    })
}

fn list() -> windows::core::Result<BTreeMap<String, PathBuf>> {
    let mut found = BTreeMap::new();
    // SAFETY: COM was started on this thread; every interface is owned by what it is bound to.
    let items: IEnumShellItems = unsafe {
        let folder: IShellItem = SHGetKnownFolderItem(&FOLDERID_AppsFolder, KF_FLAG_DEFAULT, None)?;
        folder.BindToHandler(None, &BHID_EnumItems)?
    };
    loop {
        let mut next = [None];
        let mut count = 0;
        // SAFETY: one place for one item, as the slice says.
        unsafe { items.Next(&mut next, Some(&raw mut count))? };
        let [Some(item)] = next else { return Ok(found) };
        if let (Ok(name), Ok(id)) =
            (named(&item, SIGDN_NORMALDISPLAY), named(&item, SIGDN_PARENTRELATIVEPARSING))
        {
            found.entry(name).or_insert_with(|| PathBuf::from(format!("shell:AppsFolder\\{id}")));
        }
    }
}

fn named(item: &IShellItem, how: SIGDN) -> windows::core::Result<String> {
    // SAFETY: the text is ours, ends with zero, and is freed once.
    unsafe {
        let text = item.GetDisplayName(how)?;
        let name = text.to_string();
        CoTaskMemFree(Some(text.as_ptr().cast_const().cast()));
        Ok(name?)
    }
}

/// By the user's own shell, which starts it with its environment: ours, as listed, is only for the word to it.
pub(super) fn start(file: &Path) -> Result<(), DesktopError> {
    let root = std::env::var_os("SystemRoot").unwrap_or_else(|| r"C:\Windows".into());
    let mut command = Command::new(Path::new(&root).join("explorer.exe"));
    command.arg(file).env_clear().envs(crate::environment::for_children());
    // Its exit code says nothing; whether a window comes is waited for.
    match command.spawn() {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(DesktopError::Failed(format!("the shell does not start {}: {error}", file.display())))
        }
    }
}
