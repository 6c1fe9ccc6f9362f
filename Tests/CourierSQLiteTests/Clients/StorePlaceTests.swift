import CourierCore
import Foundation
import Testing

@testable import CourierSQLite

@Suite struct StorePlaceTests {
    @Test(arguments: [
        (["XDG_STATE_HOME": "/x", "STATE_DIRECTORY": "/s", "HOME": "/h"], "/x"),
        (["XDG_STATE_HOME": "relative", "STATE_DIRECTORY": "/s", "HOME": "/h"], "/s"),
        (["XDG_STATE_HOME": "", "STATE_DIRECTORY": "/s:/t", "HOME": "/h"], "/s"),
        (["STATE_DIRECTORY": "relative:/t", "HOME": "/h"], "/h/.local/state"),
        (["HOME": "/h"], "/h/.local/state"),
    ])
    func `the store folder is the first absolute path in the environment variables`(
        variables: [String: String], path: String
    ) throws {
        #expect(try StorePlace.root(variables).path == path)
    }

    @Test(arguments: [[:], ["HOME": ""], ["HOME": "relative", "XDG_STATE_HOME": "./x"]])
    func `if no environment variable has an absolute path, the error names the variables`(variables: [String: String]) {
        let error = #expect(throws: CourierError.self) { try StorePlace.root(variables) }
        #expect(error?.code == .invalidConfiguration)
        for name in ["XDG_STATE_HOME", "STATE_DIRECTORY", "HOME", "messageStore"] {
            #expect(error?.message.contains(name) == true)
        }
    }

    @Test func `each client id has its own file, and the file name does not reveal the client id`() throws {
        let place = try StorePlace(program: "app", environment: ["HOME": "/h"])
        let file = place.file(of: "ada@example.com")
        #expect(file.deletingLastPathComponent().path == "/h/.local/state/app")
        #expect(file.lastPathComponent == "messages-266811ad9b55c572.courier")
        #expect(place.file(of: "phone-10").lastPathComponent == "messages-0aed338a22aa92df.courier")
        #expect(place.file(of: "ada@example.com") == file)
        #expect(Set(["", "ada", "Ada", "a/../b", "é", "e\u{301}"].map { place.file(of: $0) }).count == 6)
    }

    @Test func `the program name is the executable's name unless the app sets one`() throws {
        let variables = ["HOME": "/h"]
        #expect(try StorePlace(program: nil, environment: variables).program == ProcessInfo.processInfo.processName)
        #expect(try StorePlace(program: "notes", environment: variables).program == "notes")
    }

    @Test(arguments: ["", ".", "..", "a/b", "/a", "a\0b", String(repeating: "a", count: 256)])
    func `a program name that is not a valid folder name throws invalidConfiguration`(name: String) {
        let error = #expect(throws: CourierError.self) { try StorePlace(program: name, environment: ["HOME": "/h"]) }
        #expect(error?.code == .invalidConfiguration && error?.message.contains("session.storeName") == true)
    }

    @Test func `relatives() returns the store files of other client ids, and of the same client id in other programs`()
        throws
    {
        let folder = try TemporaryFolder()
        let variables = ["XDG_STATE_HOME": folder.url.path]
        let place = try StorePlace(program: "app", environment: variables)
        let renamed = try StorePlace(program: "app-2", environment: variables)
        func create(_ file: URL) throws -> String {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try write([], to: file.path)
            return file.path
        }
        let own = try create(place.file(of: "ada"))
        let otherID = try create(place.file(of: "bob"))
        let otherProgram = try create(renamed.file(of: "ada"))
        let foreign = try create(renamed.file(of: "bob"))
        _ = try create(folder.url.appendingPathComponent("app/messages-1.courier.lock"))
        _ = try create(folder.url.appendingPathComponent("app/notes.txt"))
        #expect(place.relatives(of: "ada").map(\.path) == [otherID, otherProgram].sorted())
        #expect(StorePlace.files(in: folder.url).map(\.path) == [own, otherID, otherProgram, foreign].sorted())
        #expect(StorePlace.files(in: folder.url.appendingPathComponent("missing")).isEmpty)
    }
}
