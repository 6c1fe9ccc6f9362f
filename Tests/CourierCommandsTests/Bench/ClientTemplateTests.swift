import CommandArguments
import Testing

@testable import CourierCommands

struct ClientTemplateTests {
    @Test(arguments: [
        ("a/b", "a/b"), ("a/%i", "a/7"), ("%c/%i/%c", "client/7/client"), ("100%%/%i", "100%/7"), ("%%i", "%i"),
        ("é%i/%%%c", "é7/%client"),
    ])
    func `the placeholders in a topic template are replaced by the client's number and id`(
        template: String, text: String
    ) throws {
        let parsed = try ClientTemplate(topic: template, of: "-t")
        #expect(parsed.text(number: 7, clientID: "client") == text && parsed.text == template)
        #expect(
            try ClientTemplate(filter: "\(template)/+/#", of: "-t").text(number: 7, clientID: "client") == "\(text)/+/#"
        )
    }

    @Test(arguments: [("a/%x", "%x."), ("a/%", "%."), ("%n", "%n."), ("%I", "%I.")])
    func `an unknown placeholder in a topic template is refused with its name and a hint`(template: String, end: String)
    {
        let errors = [
            #expect(throws: ArgumentError.self) { try ClientTemplate(topic: template, of: "-t") },
            #expect(throws: ArgumentError.self) { try ClientTemplate(filter: template, of: "-t") },
        ]
        for error in errors {
            #expect(error?.message == "The value '\(template)' of -t has the unknown placeholder \(end)")
            #expect(error?.hint?.contains("%i") == true)
        }
    }

    @Test func `bench refuses a topic or filter that is invalid or that placeholders make longer than MQTT allows`() {
        for topic in ["", "a/+", "#", String(repeating: "%i", count: 20_000)] {
            #expect(throws: ArgumentError.self) { try ClientTemplate(topic: topic, of: "-t") }
        }
        for filter in ["", "a/#/b", "a+", String(repeating: "%c", count: 20_000)] {
            #expect(throws: ArgumentError.self) { try ClientTemplate(filter: filter, of: "--filter") }
        }
    }

    @Test func `a percent sign in a text that allows no placeholders is not changed`() throws {
        let template = ClientTemplate(exactly: "a%i")
        #expect(template.text(number: 1, clientID: "c") == "a%i")
        #expect(try ClientTemplate(topic: template.text, of: "-t").text(number: 1, clientID: "c") == "a%i")
    }
}
