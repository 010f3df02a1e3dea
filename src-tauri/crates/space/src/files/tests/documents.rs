//! Text out of documents: those in `data` were written by LibreOffice; others are made here, to be hostile.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;

use super::{Stage, go_on};
use crate::files::{DocumentKind, FileError, Range, Reading};

fn read(stage: &Stage, name: &str) -> (DocumentKind, String, u32, bool) {
    match stage.space.read(&stage.path(name), Range::default(), &go_on).unwrap() {
        Reading::Document { kind, text, parts, whole } => (kind, text.text, parts, whole),
        other => panic!("{name}: {other:?}"),
    }
}

/// A ZIP archive of some parts.
fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn letters_are_read_as_text_with_their_tables() {
    let stage = Stage::new();
    stage.write("a.docx", include_bytes!("data/letter.docx"));
    stage.write("a.odt", include_bytes!("data/letter.odt"));
    let expected = "Rechnung 2026-114\nGrüße aus Köln & Umgebung — 請求書\nItem\tAmount\nPaper\t12.50\nInk <black>\t30.00\nDeadline: 24 December 2026\n";
    for (name, kind) in [("a.docx", DocumentKind::Docx), ("a.odt", DocumentKind::Odt)] {
        let (found, text, _, whole) = read(&stage, name);
        assert_eq!((found, whole), (kind, true));
        assert_eq!(text.replace("\n\n", "\n"), expected, "{name}");
    }
}

#[test]
fn workbooks_are_read_as_rows_with_dates_and_results() {
    let stage = Stage::new();
    stage.write("a.xlsx", include_bytes!("data/table.xlsx"));
    stage.write("a.ods", include_bytes!("data/table.ods"));
    let expected = "--- sheet Invoices ---\nName\tDue\t\tAmount\nKöln & Co\t2026-12-24\t\t12.5\n請求書\t2027-01-31\t\t30\n\t\t\t42.5\n--- sheet Notes ---\nsecond sheet\n";
    for (name, kind) in [("a.xlsx", DocumentKind::Xlsx), ("a.ods", DocumentKind::Ods)] {
        assert_eq!(read(&stage, name), (kind, expected.to_owned(), 2, true), "{name}");
    }
}

#[test]
fn a_pdf_is_read_page_by_page() {
    let stage = Stage::new();
    stage.write("a.bin", include_bytes!("data/letter.pdf"));
    let (kind, text, pages, whole) = read(&stage, "a.bin");
    assert_eq!((kind, pages, whole), (DocumentKind::Pdf, 2, true));
    let expected = "--- page 1 ---\n(no text: a picture, or a font that cannot be read)\n--- page 2 ---\nGrüße aus Köln & Umgebung — 請求書\nItem\tAmount\nPaper\t12.50\nInk <black> 30.00\nDeadline: 24 December 2026\n";
    assert_eq!(text, expected);
}

#[test]
fn slides_are_read_in_their_order() {
    let stage = Stage::new();
    let slide = |text: &str| format!("<p:sld><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sld>").into_bytes();
    let relations = br#"<Relationships><Relationship Id="rId7" Target="slides/slide1.xml"/><Relationship Id="rId3" Target="slides/slide2.xml"/></Relationships>"#;
    let order = br#"<p:presentation><p:sldIdLst><p:sldId id="256" r:id="rId3"/><p:sldId id="257" r:id="rId7"/></p:sldIdLst></p:presentation>"#;
    let powerpoint = archive(&[
        ("ppt/presentation.xml", order),
        ("ppt/_rels/presentation.xml.rels", relations),
        ("ppt/slides/slide1.xml", &slide("last &amp; least")),
        ("ppt/slides/slide2.xml", &slide("first")),
    ]);
    stage.write("a.pptx", powerpoint);
    let expected = "--- slide 1 ---\nfirst\n--- slide 2 ---\nlast & least\n".to_owned();
    assert_eq!(read(&stage, "a.pptx"), (DocumentKind::Pptx, expected.clone(), 2, true));
    let content = br#"<office:body><draw:page><text:p>first</text:p></draw:page><draw:page><text:p>last<text:s text:c="1"/>&amp; least</text:p></draw:page></office:body>"#;
    stage.write(
        "a.odp",
        archive(&[
            ("mimetype", b"application/vnd.oasis.opendocument.presentation"),
            ("content.xml", content),
        ]),
    );
    assert_eq!(read(&stage, "a.odp"), (DocumentKind::Odp, expected, 2, true));
}

#[test]
fn a_bomb_is_unpacked_as_far_as_its_text_is_taken_and_says_so() {
    let stage = Stage::new();
    let mut body = b"<w:document>".to_vec();
    for _ in 0..200_000 {
        body.extend_from_slice(b"<w:p><w:t>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa</w:t></w:p>");
    }
    stage.write("a.docx", archive(&[("word/document.xml", &body)]));
    let (kind, _, _, whole) = read(&stage, "a.docx");
    assert_eq!((kind, whole), (DocumentKind::Docx, false));
    // Entities that stand for others are not made.
    let laughs = br#"<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><w:document><w:p><w:t>x&b;y</w:t></w:p></w:document>"#;
    stage.write("b.docx", archive(&[("word/document.xml", laughs)]));
    assert_eq!(read(&stage, "b.docx").1, "xy\n");
    // A cell at the end of the world, and one that stands for a million.
    let relations = br#"<Relationships><Relationship Id="r" Target="worksheets/s.xml"/></Relationships>"#;
    let book = br#"<workbook><sheets><sheet name="S" r:id="r"/></sheets></workbook>"#;
    let sheet = br#"<worksheet><row r="1048576"><c r="A1048576"><v>1</v></c><c r="XFD1048576"><v>2</v></c></row></worksheet>"#;
    stage.write(
        "a.xlsx",
        archive(&[
            ("xl/workbook.xml", book),
            ("xl/_rels/workbook.xml.rels", relations),
            ("xl/worksheets/s.xml", sheet),
        ]),
    );
    assert_eq!(read(&stage, "a.xlsx"), (DocumentKind::Xlsx, "--- sheet S ---\n1\n".into(), 1, false));
    let content = br#"<office:body><table:table table:name="S"><table:table-row><table:table-cell table:number-columns-repeated="1000000"><text:p>1</text:p></table:table-cell></table:table-row></table:table></office:body>"#;
    stage.write(
        "a.ods",
        archive(&[("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", content)]),
    );
    assert_eq!(read(&stage, "a.ods").1.matches('1').count(), 100);
}

#[test]
fn a_damaged_document_is_an_error_and_never_a_crash() {
    let stage = Stage::new();
    let all: [(&str, &[u8]); 5] = [
        ("a.docx", include_bytes!("data/letter.docx")),
        ("a.odt", include_bytes!("data/letter.odt")),
        ("a.xlsx", include_bytes!("data/table.xlsx")),
        ("a.ods", include_bytes!("data/table.ods")),
        ("a.pdf", include_bytes!("data/letter.pdf")),
    ];
    let (mut errors, mut read) = (0, 0);
    for (name, whole) in all {
        for round in 0..40_usize {
            let mut bytes = whole.to_vec();
            if round % 2 == 0 {
                bytes.truncate(whole.len() * round / 40);
            }
            for at in 0..round {
                let place = (round * 7919 + at * 104_729) % whole.len();
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = byte.wrapping_add(1 + at as u8);
                }
            }
            stage.write(name, bytes);
            match stage.space.read(&stage.path(name), Range::default(), &go_on) {
                Ok(_) => read += 1,
                Err(FileError::Document { .. }) => errors += 1,
                Err(e) => panic!("{name}: {e}"),
            }
        }
    }
    println!("{errors} errors, {read} read all the same");
    assert!(errors > 20);
    let stopped = |name: &str, whole: &[u8]| {
        stage.write(name, whole);
        stage.space.read(&stage.path(name), Range::default(), &|| true)
    };
    assert!(matches!(stopped("a.pdf", all[4].1), Err(FileError::Stopped)));
}
