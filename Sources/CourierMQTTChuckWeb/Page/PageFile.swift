import Foundation

/// A file of the web page.
///
/// The files are compiled into the library. A resource bundle would not always be found at run time, because the
/// program may have been copied without it, linked statically or packed.
struct PageFile: Sendable {
    let type: String
    let data: Data

    /// All files of the page, by their path after the token.
    static let all: [String: PageFile] = [
        "": PageFile(type: "text/html; charset=utf-8", data: Data(PackageResources.page_html)),
        "icon.svg": PageFile(type: "image/svg+xml", data: Data(PackageResources.icon_svg)),
        "page.css": PageFile(type: "text/css; charset=utf-8", data: Data(PackageResources.page_css)),
        "page.js": PageFile(type: "text/javascript; charset=utf-8", data: Data(PackageResources.page_js)),
    ]
}
