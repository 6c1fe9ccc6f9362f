import CourierCore
import TestSupport
import Testing

@Suite struct TopicTests {
    private struct Note {}

    private let notes = Topic<Note>("chat/{room}/notes", qos: .two)
    private let identity = ConnectionIdentity(username: "ada", clientID: "phone-7")

    private func name<Value>(_ topic: Topic<Value>) throws -> String { try topic.template.name(for: identity).string }

    @Test func `calling a topic with arguments fills in its parameters`() throws {
        #expect(try name(notes(room: "7")) == "chat/7/notes")
        #expect(try name(notes(room: 7)) == "chat/7/notes")
        #expect(notes(room: "7").qos == .two)
        #expect(Topic<Note>("a").qos == .one)
        let two = Topic<Note>("{first}/x/{second}")
        #expect(try name(two(second: "b", first: "a")) == "a/x/b")
    }

    @Test func `the filter of a topic has a + wildcard for each parameter without a value`() throws {
        let two = Topic<Note>("{first}/x/{second}")
        #expect(try two.filter.string == "+/x/+")
        #expect(try two(first: "a").filter.string == "a/x/+")
        #expect(try two(first: "a", second: "b").filter.string == "a/x/b")
    }

    @Test func `the topic name of a topic with a missing argument throws missingTopicArgument`() throws {
        let error = try #require(expectCourierError(.missingTopicArgument) { try name(notes) })
        #expect(error.message.contains("\"room\""))
    }

    @Test(arguments: ["", "a/b", "+", "#", "a\u{0}", "../+", "x/"])
    func `an argument that is empty or contains a separator, wildcard or U+0000 is refused`(_ value: String) throws {
        let topic = notes(room: value)
        expectCourierError(.invalidTopicArgument) { try name(topic) }
        expectCourierError(.invalidTopicArgument) { try topic.filter }
        expectCourierError(.invalidTopicArgument) { try topic.checked() }
    }

    @Test func `an argument that would start the topic with $SYS or $share is refused`() throws {
        let topic = Topic<Note>("{first}/{second}/x")
        expectCourierError(.invalidTopicArgument) { try name(topic(first: "$SYS", second: "a")) }
        expectCourierError(.invalidTopicArgument) { try topic(first: "$share").filter }
        #expect(try name(topic(first: "a", second: "$b")) == "a/$b/x")
        let own = Topic<Note>("%u/x")
        expectCourierError(.invalidTopicArgument) {
            try own.filter(for: ConnectionIdentity(username: "$SYS", clientID: "c"))
        }
        let shared = Topic<Note>("$share/{group}/{first}/x")
        expectCourierError(.invalidTopicArgument) { try shared(group: "g", first: "$SYS").filter }
        #expect(try shared(group: "g", first: "a").filter.string == "$share/g/a/x")
    }

    @Test func `a topic template may begin with $, but is refused if a placeholder value turns it into a $share topic`()
        throws
    {
        let things = Topic<Note>("$things-%c/x")
        #expect(try things.filter(for: ConnectionIdentity(username: "u", clientID: "c")).string == "$things-c/x")
        expectCourierError(.invalidTopicArgument) {
            try Topic<Note>("$s%c/g/x").filter(for: ConnectionIdentity(username: "u", clientID: "hare"))
        }
    }

    @Test func `an unknown, unnamed or repeated argument throws invalidTopicArgument`() throws {
        let unknown = try #require(expectCourierError(.invalidTopicArgument) { try name(notes(rom: "7")) })
        #expect(unknown.message.contains("rom"))
        #expect(unknown.message.contains("room"))
        expectCourierError(.invalidTopicArgument) { try name(notes("7")) }
        expectCourierError(.invalidTopicArgument) { try name(notes(room: "7")(room: "8")) }
        expectCourierError(.invalidTopicArgument) { try name(notes(room: "7", room: "8")) }
    }

    @Test func `if two topic arguments are wrong, the error reports the first wrong argument`() throws {
        let error = try #require(expectCourierError(.invalidTopicArgument) { try name(notes(rom: "7")(room: "a/b")) })
        #expect(error.message.contains("rom"))
    }

    @Test(arguments: [
        "chat/{room", "chat/room}", "chat/{}/x", "chat/{1a}", "chat/a{room}", "chat/{room}a", "{a}/{a}", "%x", "a%",
        "", "a+/b", "#/a", "{r\u{f6}om}", "a\u{0}",
    ])
    func `an invalid topic template throws invalidTopicTemplate when it is used`(_ text: String) {
        let topic = Topic<Note>(text)
        expectCourierError(.invalidTopicTemplate) { try topic.checked() }
        expectCourierError(.invalidTopicTemplate) { try name(topic(room: "7")) }
        expectCourierError(.invalidTopicTemplate) { try topic.filter }
    }

    @Test func `the placeholders %u and %c are replaced by user name and client id of the connection`() throws {
        let topic = Topic<Note>("users/%u/dev-%c/{room}/100%%")
        #expect(try name(topic(room: "7")) == "users/ada/dev-phone-7/7/100%")
        #expect(try topic.filter(for: identity).string == "users/ada/dev-phone-7/+/100%")
        expectCourierError(.unresolvedPlaceholder, "await connected() first", "If you resolve the topic yourself") {
            try topic.filter
        }
        let hostile = ConnectionIdentity(username: "ada/#", clientID: "c")
        let error = try #require(expectCourierError(.invalidTopicArgument) { try topic.filter(for: hostile) })
        #expect(error.message.contains("user name"))
        expectCourierError(.invalidTopicArgument) {
            try topic.filter(for: ConnectionIdentity(username: "", clientID: "c"))
        }
    }

    @Test func `ConnectionIdentity takes user name and client id from ConnectOptions`() {
        let options = ConnectOptions(host: "h", port: 1, clientId: "c", username: "u", password: "p")
        #expect(ConnectionIdentity(options).username == "u")
        #expect(ConnectionIdentity(options).clientID == "c")
    }

    @Test func `the arguments of a topic are extracted from a matching topic name`() throws {
        let topic = Topic<Note>("chat/{room}/{user}/#")
        #expect(try topic.arguments(in: TopicName("chat/7/ada/x/y")) == ["room": "7", "user": "ada"])
        #expect(try topic.arguments(in: TopicName("chat/7/ada")) == ["room": "7", "user": "ada"])
        #expect(try topic.arguments(in: TopicName("chat/7")) == nil)
        #expect(try topic(room: "8").arguments(in: TopicName("chat/7/ada")) == nil)
        #expect(try topic(room: "7").arguments(in: TopicName("chat/7/ada")) == ["room": "7", "user": "ada"])
        let own = Topic<Note>("%u/{room}")
        #expect(try own.arguments(in: TopicName("ada/7"), for: identity) == ["room": "7"])
        #expect(try own.arguments(in: TopicName("eve/7"), for: identity) == nil)
    }

    @Test func `the parameters of a topic template with a $share prefix are extracted`() throws {
        let shared = Topic<Note>("$share/workers/jobs/{id}")
        #expect(try shared.filter.string == "$share/workers/jobs/+")
        #expect(try shared.arguments(in: TopicName("jobs/7")) == ["id": "7"])
    }

    @Test func `a $share topic can be subscribed to but throws invalidTopicName for publishing`() {
        expectCourierError(.invalidTopicName) { try name(Topic<Note>("$share/pool/jobs/{kind}")(kind: "resize")) }
        let exact = TopicTemplate(exactly: "$share/pool/jobs/resize")
        expectCourierError(.invalidTopicName) { try exact.name(for: nil) }
        #expect(exact.exactName == nil)
        #expect(throws: Never.self) { try exact.filter(for: nil) }
    }

    @Test func `TopicTemplate(exactly) does not replace parameters or placeholders in the text`() throws {
        let exact = TopicTemplate(exactly: "a/{b}/%u")
        #expect(try exact.name(for: nil).string == "a/{b}/%u")
        #expect(try exact.arguments(in: TopicName("a/{b}/%u"), for: nil) == [:])
        expectCourierError(.invalidTopicName) { try TopicTemplate(exactly: "a/+").name(for: nil) }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `arguments extracted from a topic name equal the arguments that created the name`(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let topic = Topic<Note>("a/{x}/b/{y}")
        let alphabet = ["a", "b", "\u{E9}", "e\u{301}", "{", "}", "%", "$", " "]
        for _ in 0..<500 {
            func value() -> String {
                (0...Int.random(in: 0..<4, using: &generator)).map { _ in
                    alphabet.randomElement(using: &generator) ?? "a"
                }.joined()
            }
            let (x, y) = (value(), value())
            let bound = try topic(x: x, y: y).template.name(for: nil)
            let found = try #require(try topic.arguments(in: bound), "seed \(seed)")
            #expect(found["x"].map { Array($0.utf8) } == Array(x.utf8), "seed \(seed)")
            #expect(found["y"].map { Array($0.utf8) } == Array(y.utf8), "seed \(seed)")
        }
    }
}
