import CommandArguments
import Foundation
import TestSupport
import Testing

@testable import CourierCommands

struct ReportFileTests {
    @Test(arguments: [
        ("a.png", "cannot be a PNG file"), ("b/A.PNG", "cannot be a PNG file"), ("a.txt", "does not end in .svg"),
        ("svg", "does not end in .svg"), ("", "does not end in .svg"), ("a.svg/b", "does not end in .svg"),
    ])
    func `a report file whose name does not end in svg or json is refused with a hint`(path: String, message: String) {
        let error = #expect(throws: ArgumentError.self) { try ReportFile(path) }
        #expect(error?.message.contains(message) == true && error?.hint != nil)
    }

    @Test(arguments: [("a.svg", ReportFile.Format.svg), ("b/A.JSON", .json), ("a.svg.json", .json)])
    func `the extension of a report file selects its format`(path: String, format: ReportFile.Format) throws {
        #expect(try ReportFile(path).format == format)
    }

    @Test func `check() and write() throw if the report file exists, and the file is not changed`() throws {
        let folder = try TemporaryFolder()
        let file = try ReportFile(folder.file("run.SVG"))
        try file.check()
        try file.write("<svg/>")
        #expect(throws: ArgumentError.self) { try file.check() }
        let error = #expect(throws: ArgumentError.self) { try file.write("other") }
        #expect(error?.message.contains("exists already") == true)
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "<svg/>")
    }

    @Test func `check() throws if the folder of the report file does not exist`() throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: ArgumentError.self) { try ReportFile(folder.file("no/run.svg")).check() }
        #expect(error?.message.contains("cannot be written: No such file") == true)
    }
}
