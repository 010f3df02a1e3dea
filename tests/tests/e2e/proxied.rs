//! Out through a company's network: by the proxy that the system names, which looks into TLS with a certificate of its own
//! authority.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use openssl::asn1::Asn1Time;
use openssl::bn::{BigNum, MsbOption};
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::ssl::{SslAcceptor, SslMethod};
use openssl::x509::extension::{BasicConstraints, SubjectAlternativeName};
use openssl::x509::{X509, X509NameBuilder};
use outside::fake_model::{FakeModel, MindTurn};
use outside::miki::Miki;
use outside::stage::Stage;
use serde_json::json;

const HOST: &str = "generativelanguage.googleapis.com";
const MODEL: &str = "gemini/gemini-3-flash-preview";
/// What Gemini would say to the question of `model test`.
const ANSWER: &str = concat!(
    r#"data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"report","#,
    r#""args":{"colour":"red"}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":300,"#,
    r#""candidatesTokenCount":9}}"#,
    "\r\n\r\n"
);

/// Answers in the place of whoever is asked for, and writes down what it heard: tunnels and requests, a line each.
struct Proxy {
    url: String,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// Writes its authority's certificate to `authority`.
    fn start(authority: &Path) -> Self {
        let (key, certificate) = certificate();
        fs::write(authority, certificate.to_pem().unwrap()).unwrap();
        let mut acceptor = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server()).unwrap();
        acceptor.set_private_key(&key).unwrap();
        acceptor.set_certificate(&certificate).unwrap();
        let acceptor = acceptor.build();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hears = heard.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                // A client that does not trust it goes away in the middle.
                let _gone = serve(stream.unwrap(), &acceptor, &hears);
            }
        });
        Self { url, heard }
    }

    fn heard(&self) -> Vec<String> {
        std::mem::take(&mut *self.heard.lock().unwrap())
    }
}

fn serve(mut stream: TcpStream, acceptor: &SslAcceptor, heard: &Mutex<Vec<String>>) -> Option<()> {
    let (line, _) = head(&mut stream)?;
    heard.lock().unwrap().push(line);
    stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").ok()?;
    let mut stream = acceptor.accept(stream).ok()?;
    let (line, length) = head(&mut stream)?;
    stream.read_exact(&mut vec![0; length]).ok()?;
    heard.lock().unwrap().push(line);
    let length = ANSWER.len();
    let head = format!("content-type: text/event-stream\r\ncontent-length: {length}\r\nconnection: close");
    stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{ANSWER}").as_bytes()).ok()
}

/// The first line of a request, and the length of what follows its head.
fn head(stream: &mut impl Read) -> Option<(String, usize)> {
    // Not a byte more than the head: what follows belongs to TLS.
    let mut reader = BufReader::with_capacity(1, stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim().to_lowercase().split_once(':') {
            Some(("content-length", value)) => length = value.trim().parse().ok()?,
            Some(_) => {}
            None => return (!first.is_empty()).then(|| (first.trim().to_owned(), length)),
        }
    }
}

/// Of an authority of its own, for [`HOST`].
fn certificate() -> (PKey<Private>, X509) {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    let key = PKey::from_ec_key(EcKey::generate(&group).unwrap()).unwrap();
    let mut name = X509NameBuilder::new().unwrap();
    name.append_entry_by_text("CN", "The company").unwrap();
    let name = name.build();
    let mut serial = BigNum::new().unwrap();
    serial.rand(64, MsbOption::MAYBE_ZERO, false).unwrap();
    let mut builder = X509::builder().unwrap();
    builder.set_version(2).unwrap();
    builder.set_serial_number(&serial.to_asn1_integer().unwrap()).unwrap();
    builder.set_subject_name(&name).unwrap();
    builder.set_issuer_name(&name).unwrap();
    builder.set_pubkey(&key).unwrap();
    builder.set_not_before(&Asn1Time::days_from_now(0).unwrap()).unwrap();
    builder.set_not_after(&Asn1Time::days_from_now(2).unwrap()).unwrap();
    builder.append_extension(BasicConstraints::new().critical().ca().build().unwrap()).unwrap();
    let names = SubjectAlternativeName::new().dns(HOST).build(&builder.x509v3_context(None, None)).unwrap();
    builder.append_extension(names).unwrap();
    builder.sign(&key, MessageDigest::sha256()).unwrap();
    (key, builder.build())
}

#[test]
fn the_systems_proxy_and_its_own_authorities_are_used_and_this_machine_is_asked_directly() {
    let stage = Stage::plain().unwrap();
    let authority = stage.path("company.pem");
    let proxy = Proxy::start(&authority);
    let through = |name: &str| {
        let miki = Miki::on(&stage, name).unwrap().env("MIKI_KEY_GEMINI", "demo");
        miki.env("HTTPS_PROXY", &proxy.url).env("HTTP_PROXY", &proxy.url)
    };
    let test =
        |miki: &Miki, more: &[&str]| miki.run(&stage, &[&["model", "test", MODEL], more].concat()).unwrap();
    let tunnel = format!("CONNECT {HOST}:443 HTTP/1.1");

    // An authority that nobody has named is not believed, and gets neither the key nor a word.
    let done = test(&through("strict"), &[]);
    assert_eq!(done.code(), 1, "{} {}", done.stdout, done.stderr);
    assert!(done.stderr.contains("certificate"), "{}", done.stderr);
    let heard = proxy.heard();
    assert!(!heard.is_empty() && heard.iter().all(|line| *line == tunnel), "{heard:?}");

    let miki = through("trusting").env("SSL_CERT_FILE", authority.to_str().unwrap());
    let done = test(&miki, &[]);
    assert_eq!(done.code(), 0, "{} {}", done.stdout, done.stderr);
    assert!(done.stdout.contains("300") && done.stdout.contains('$'), "tokens and cost: {}", done.stdout);
    let heard = proxy.heard();
    let [first, request] = &heard[..] else { panic!("{heard:?}") };
    assert_eq!(*first, tunnel);
    assert!(request.starts_with("POST /v1") && request.contains(":streamGenerateContent"), "{request}");

    let turn = |_: &_| MindTurn::call("", "report", json!({ "colour": "red" }));
    let model = FakeModel::start(turn).unwrap();
    let done = test(&miki, &["--base-url", &model.url()]);
    assert_eq!(done.code(), 0, "{} {}", done.stdout, done.stderr);
    assert_eq!(proxy.heard(), Vec::<String>::new());
}
