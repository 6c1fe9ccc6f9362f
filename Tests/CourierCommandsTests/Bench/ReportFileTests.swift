import CommandArguments
import Foundation
import TestSupport
import Testing

@testable import CourierCommands

struct ReportFileTests {
    @Test(arguments: [
        ("a.png", "PNG is not supported"), ("b/A.PNG", "PNG is not supported"), ("a.txt", "does not end in .svg"),
        ("svg", "does not end in .svg"), ("", "does not end in .svg"), ("a.svg/b", "does not end in .svg"),
    ])
    func `what is no SVG is refused by its name`(path: String, message: String) {
        let error = #expect(throws: ArgumentError.self) { try ReportFile(path) }
        #expect(error?.message.contains(message) == true && error?.hint != nil)
    }

    @Test func `nothing is overwritten, neither found before nor behind the work`() throws {
        let folder = try TemporaryFolder()
        let file = try ReportFile(folder.file("run.SVG"))
        try file.check()
        try file.write("<svg/>")
        #expect(throws: ArgumentError.self) { try file.check() }
        let error = #expect(throws: ArgumentError.self) { try file.write("other") }
        #expect(error?.message.contains("is there already") == true)
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "<svg/>")
    }

    @Test func `a folder that is not there is said before the work`() throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: ArgumentError.self) { try ReportFile(folder.file("no/run.svg")).check() }
        #expect(error?.message.contains("can not be written: No such file") == true)
    }
}
