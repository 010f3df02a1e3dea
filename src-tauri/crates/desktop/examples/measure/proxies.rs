//! An application's whole tree by proxies, a call for each property: one after the other, and all of a level at once.
//! Role, name, states and extents of each object, as the peers read them.

use futures::future::join_all;
use zbus::Connection;
use zbus::proxy::CacheProperties;
use zbus::zvariant::OwnedObjectPath;

use crate::work::Failure;

const REGISTRY: &str = "org.a11y.atspi.Registry";
const ROOT: &str = "/org/a11y/atspi/accessible/root";
const NONE: &str = "/org/a11y/atspi/null";

type Reference = (String, OwnedObjectPath);

#[zbus::proxy(interface = "org.a11y.atspi.Accessible", assume_defaults = false)]
trait Accessible {
    fn get_role(&self) -> zbus::Result<u32>;
    fn get_state(&self) -> zbus::Result<Vec<u32>>;
    fn get_children(&self) -> zbus::Result<Vec<Reference>>;
    #[zbus(property)]
    fn name(&self) -> zbus::Result<String>;
}

#[zbus::proxy(interface = "org.a11y.atspi.Component", assume_defaults = false)]
trait Component {
    fn get_extents(&self, of: u32) -> zbus::Result<(i32, i32, i32, i32)>;
}

/// What is read of one object.
type Facts = (u32, Option<String>, Option<Vec<u32>>, Option<(i32, i32, i32, i32)>);

pub struct Proxies {
    bus: Connection,
}

impl Proxies {
    pub async fn open() -> Result<Self, Failure> {
        let session = Connection::session().await?;
        let host = zbus::Proxy::new(&session, "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus").await?;
        let address: String = host.call("GetAddress", &()).await?;
        Ok(Self { bus: zbus::connection::Builder::address(address.as_str())?.build().await? })
    }

    /// How many objects there are.
    pub async fn one_by_one(&self, app: &str) -> Result<usize, Failure> {
        let mut waiting = vec![self.root(app).await?];
        let mut count = 0;
        while let Some(object) = waiting.pop() {
            let (accessible, component) = self.proxies(&object).await?;
            // An object may go while the tree is walked.
            let Ok(role) = accessible.get_role().await else { continue };
            let name = accessible.name().await.ok();
            let states = accessible.get_state().await.ok();
            let extents = component.get_extents(0).await.ok();
            std::hint::black_box::<Facts>((role, name, states, extents));
            let children = accessible.get_children().await.unwrap_or_default();
            waiting.extend(children.into_iter().filter(|(_, path)| path.as_str() != NONE));
            count += 1;
        }
        Ok(count)
    }

    /// The same, as many calls at a time as a level of the tree has objects.
    pub async fn joined(&self, app: &str) -> Result<usize, Failure> {
        let mut level = vec![self.root(app).await?];
        let mut count = 0;
        while !level.is_empty() {
            let answers = join_all(level.iter().map(|object| self.read(object))).await;
            level.clear();
            for answer in answers {
                let Some((facts, children)) = answer? else { continue };
                std::hint::black_box(facts);
                level.extend(children.into_iter().filter(|(_, path)| path.as_str() != NONE));
                count += 1;
            }
        }
        Ok(count)
    }

    async fn read(&self, object: &Reference) -> Result<Option<(Facts, Vec<Reference>)>, Failure> {
        let (accessible, component) = self.proxies(object).await?;
        let (role, name, states, extents, children) = tokio::join!(
            accessible.get_role(),
            accessible.name(),
            accessible.get_state(),
            component.get_extents(0),
            accessible.get_children(),
        );
        let Ok(role) = role else { return Ok(None) };
        Ok(Some(((role, name.ok(), states.ok(), extents.ok()), children.unwrap_or_default())))
    }

    async fn proxies(
        &self,
        (program, path): &Reference,
    ) -> Result<(AccessibleProxy<'static>, ComponentProxy<'static>), Failure> {
        let accessible = AccessibleProxy::builder(&self.bus)
            .destination(program.clone())?
            .path(path.clone())?
            .cache_properties(CacheProperties::No)
            .build()
            .await?;
        let component = ComponentProxy::builder(&self.bus)
            .destination(program.clone())?
            .path(path.clone())?
            .cache_properties(CacheProperties::No)
            .build()
            .await?;
        Ok((accessible, component))
    }

    /// The root of the first application whose name has this in it.
    async fn root(&self, app: &str) -> Result<Reference, Failure> {
        let registry = (REGISTRY.to_owned(), OwnedObjectPath::try_from(ROOT)?);
        let (desktop, _) = self.proxies(&registry).await?;
        for application in desktop.get_children().await? {
            let (accessible, _) = self.proxies(&application).await?;
            if accessible.name().await.is_ok_and(|name| name.to_lowercase().contains(app)) {
                return Ok(application);
            }
        }
        Err(format!("no application named {app} is on the accessibility bus").into())
    }
}
