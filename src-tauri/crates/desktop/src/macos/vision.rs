//! Text in pixels, by Vision: English and Japanese.
#![expect(unsafe_code, reason = "Apple's image interface; each block says what makes it sound")]

use objc2::AnyThread as _;
use objc2::runtime::AnyObject;
use objc2_core_foundation::{CFData, CFRetained};
use objc2_core_graphics::{
    CGBitmapInfo, CGColorRenderingIntent, CGColorSpace, CGDataProvider, CGImage, CGImageAlphaInfo,
    CGImageByteOrderInfo,
};
use objc2_foundation::{NSArray, NSDictionary, NSString};
use objc2_vision::{VNImageRequestHandler, VNRecognizeTextRequest, VNRequest, VNRequestTextRecognitionLevel};
use pictures::{Frame, Order};

use crate::DesktopError;
use crate::portable::Line;

const LANGUAGES: [&str; 2] = ["en-US", "ja-JP"];

pub(super) fn read(frame: &Frame) -> Result<Vec<Line>, DesktopError> {
    let image = image(frame)?;
    let request = VNRecognizeTextRequest::new();
    request.setRecognitionLevel(VNRequestTextRecognitionLevel::Accurate);
    // What is on a screen is names and numbers more often than sentences.
    request.setUsesLanguageCorrection(false);
    let languages: Vec<_> = LANGUAGES.iter().map(|language| NSString::from_str(language)).collect();
    request.setRecognitionLanguages(&NSArray::from_retained_slice(&languages));
    let options = NSDictionary::<NSString, AnyObject>::new();
    // SAFETY: the image is alive, and there are no options that could be of a wrong type.
    let handler = unsafe {
        VNImageRequestHandler::initWithCGImage_options(VNImageRequestHandler::alloc(), &image, &options)
    };
    let asked: &VNRequest = &request;
    handler
        .performRequests_error(&NSArray::from_slice(&[asked]))
        .map_err(|error| DesktopError::Failed(format!("Vision: {}", error.localizedDescription())))?;
    let mut lines = Vec::new();
    for found in request.results().iter().flat_map(|results| results.iter()) {
        let Some(best) = found.topCandidates(1).firstObject() else { continue };
        // SAFETY: reads a property of a living object.
        let place = unsafe { found.boundingBox() };
        lines.push(Line {
            text: best.string().to_string(),
            x: place.origin.x,
            // Vision counts from the bottom.
            y: 1.0 - place.origin.y - place.size.height,
            width: place.size.width,
            height: place.size.height,
            confidence: best.confidence(),
        });
    }
    Ok(lines)
}

fn image(frame: &Frame) -> Result<CFRetained<CGImage>, DesktopError> {
    let failed = || DesktopError::Failed("the pixels could not be handed to Vision".into());
    let data = CFData::from_bytes(&frame.pixels);
    let provider = CGDataProvider::with_cf_data(Some(&data)).ok_or_else(failed)?;
    let space = CGColorSpace::new_device_rgb().ok_or_else(failed)?;
    let order = match frame.order {
        Order::Bgrx => CGImageAlphaInfo::NoneSkipFirst.0 | CGImageByteOrderInfo::Order32Little.0,
        Order::Rgbx => CGImageAlphaInfo::NoneSkipLast.0,
    };
    let (width, height) = (frame.width as usize, frame.height as usize);
    // SAFETY: the provider owns its bytes, which are four for each pixel and without gaps, as `Frame` says; there is no
    // decode array.
    let image = unsafe {
        CGImage::new(
            width,
            height,
            8,
            32,
            width * 4,
            Some(&space),
            CGBitmapInfo(order),
            Some(&provider),
            std::ptr::null(),
            false,
            CGColorRenderingIntent::RenderingIntentDefault,
        )
    };
    image.ok_or_else(failed)
}
