//! Pictures of the screen: small beside a step or in a question, and large.

use leptos::{html, prelude::*};
use protocol::tool::PictureView;

use super::icon::icon;
use crate::picture::picture_url;
use crate::store::store;
use crate::words::Word;

/// A picture to be seen large: where it is, and what it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Enlarged {
    pub url: String,
    pub alt: String,
}

/// Small, in a button that opens it; `alt` is what it shows. `None` before the window knows where pictures are.
pub fn thumbnail<F: Fn() -> String + Clone + Send + Sync + 'static>(
    picture: &PictureView,
    alt: F,
    enlarge: Callback<Enlarged>,
) -> Option<impl IntoView + use<F>> {
    let store = store();
    let platform = store.state.with_untracked(|state| state.as_ref().map(|state| state.overview.platform))?;
    let url = picture_url(&picture.blob.sha256, platform)?;
    let (open_alt, open_url) = (alt.clone(), url.clone());
    let open = move |_| enlarge.run(Enlarged { url: open_url.clone(), alt: open_alt() });
    let (width, height) = (picture.width, picture.height);
    Some(view! {
        <button class="picture" aria-label=move || store.say(Word::Enlarge) on:click=open>
            <img src=url alt=alt width=width height=height loading="lazy" decoding="async" />
        </button>
    })
}

/// One that was opened, large. Esc or a click closes it.
#[component]
pub fn Large(enlarged: RwSignal<Option<Enlarged>>) -> impl IntoView {
    let store = store();
    let dialog = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        if let (Some(dialog), true) = (dialog.get(), enlarged.with(Option::is_some)) {
            let _ = dialog.show_modal(); // fails where it is open already
        }
    });
    let close = move |_| {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    view! {
        <dialog class="large" node_ref=dialog on:click=close on:close=move |_| enlarged.set(None)>
            {move || enlarged.get().map(|picture| view! { <img src=picture.url alt=picture.alt /> })}
            <button class="quiet" aria-label=move || store.say(Word::Close)>{icon("close")}</button>
        </dialog>
    }
}
