import Foundation

/// A test in one process: two members continue to chat after their tokens expire, and a third without the secret is
/// refused.
@MainActor final class Story {
    struct Broken: Error, CustomStringConvertible { let description: String }

    /// A person in the story, with a record of its lines and connections.
    @MainActor private final class Person {
        let name: String
        let (lines, typing) = AsyncStream.makeStream(of: String.self)
        var said: [String] = []
        var heard: [String] = []
        var isInRoom = false
        var connectionCount = 0

        init(_ name: String) { self.name = name }

        func says(_ text: String) {
            if case .enqueued = typing.yield(text) { said.append(text) }
        }
    }

    /// The time limit of the story. A lost line causes no event, so only a time limit can detect it.
    private static let patience = Duration.seconds(30)

    private let secret = UUID().uuidString
    private let ada = Person("ada")
    private let ben = Person("ben")
    private let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// Plays the story. Throws if the result is not as expected.
    func play() async throws {
        let server = try Server(TokenOffice(secret: secret, lifetime: .seconds(3))) { say("server  \($0)") }
        do {
            try await member(Person("eve"), .json, of: server, secret: "guessed").stay { AsyncStream { nil } }
            throw Broken(description: "eve was accepted without the secret")
        } catch let refused as Refused {
            say("eve     \(refused)")
        }
        let members = try [
            (ada, member(ada, .json, of: server, secret: secret)),
            (ben, member(ben, .protobuf, of: server, secret: secret)),
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (person, member) in members { group.addTask { try await member.stay { person.lines } } }
            group.addTask { try await self.talk(server) }
            group.addTask {
                // The time limit for the other tasks. When they are done, they cancel this task.
                try await Task.sleep(for: Self.patience)
                throw Broken(description: "a line did not arrive within 30 seconds")
            }
            for _ in 0..<3 { try await group.next() }
            group.cancelAll()
        }
        await server.stop()
        guard ada.heard == ben.said, ben.heard == ada.said else {
            throw Broken(description: "said: \(ada.said), \(ben.said); heard: \(ben.heard), \(ada.heard)")
        }
        let tokens = ada.connectionCount + ben.connectionCount
        say("\n\(ada.said.count + ben.said.count) lines arrived in order, each of them once, with \(tokens) tokens")
        say("Everything worked as expected.")
    }

    private func talk(_ server: Server) async throws {
        try await until { self.ada.isInRoom && self.ben.isInRoom }
        ada.says("hello")
        ben.says("hello yourself")
        // When Ada's connection is lost, `happened` makes both members say a line. Ben's token is renewed before it
        // expires.
        server.revoke(ada.name)
        try await until { self.ada.connectionCount > 1 && self.ben.connectionCount > 1 }
        ada.says("goodbye")
        ben.says("goodbye yourself")
        try await until { self.ada.heard.count >= self.ben.said.count && self.ben.heard.count >= self.ada.said.count }
        ada.typing.finish()
        ben.typing.finish()
    }

    private func happened(_ news: News, to person: Person) {
        say(person.name.padding(toLength: 8, withPad: " ", startingAt: 0) + news.description)
        switch news {
        case .inRoom: person.isInRoom = true
        case .connected: person.connectionCount += 1
        case .heard(let line, _): person.heard.append(line.text)
        case .lost:
            ada.says("do you hear me, \(person.name)?")
            ben.says("\(person.name) is away")
        case .token, .said, .trouble: break
        }
        changed.yield()
    }

    private func until(_ condition: () -> Bool) async throws {
        guard !condition() else { return }
        for await _ in changes where condition() { return }
        throw CancellationError()
    }

    private func member(_ person: Person, _ format: Format, of server: Server, secret: String) throws -> Member {
        guard let url = URL(string: server.tokenURL) else { throw Broken(description: "no URL: \(server.tokenURL)") }
        let tokens = Tokens(name: person.name, secret: secret, url: url)
        return try Member(tokens, format) { [weak self] news in self?.happened(news, to: person) }
    }
}
