import Foundation

/// A file of the page.
///
/// The files are compiled into the library: a resource bundle would have to be found at run time, beside a program
/// that may have been copied, linked statically, or packed into something else.
struct PageFile: Sendable {
    let type: String
    let data: Data

    /// All files by their path behind the token.
    static let all: [String: PageFile] = [
        "": PageFile(type: "text/html; charset=utf-8", data: Data(PackageResources.page_html)),
        "icon.svg": PageFile(type: "image/svg+xml", data: Data(PackageResources.icon_svg)),
        "page.css": PageFile(type: "text/css; charset=utf-8", data: Data(PackageResources.page_css)),
        "page.js": PageFile(type: "text/javascript; charset=utf-8", data: Data(PackageResources.page_js)),
    ]
}
