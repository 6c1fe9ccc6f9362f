import CourierCore
import Foundation
import Testing

@testable import CourierCommands

struct MessagePrinterTests {
    private static func message(_ payload: String, qos: Int = 0) -> PrintedMessage {
        PrintedMessage(
            topic: "a/b", payload: Array(payload.utf8), qos: qos, packetID: qos == 0 ? 0 : 9,
            time: WallTime(seconds: 0, nanoseconds: 1_000))
    }

    private static func text(_ printer: MessagePrinter, _ message: PrintedMessage) -> String {
        String(decoding: printer.print(message).bytes, as: UTF8.self)
    }

    @Test(arguments: [
        (false, true, "x", "x\n"), (false, true, "", ""), (false, false, "x", "x"), (true, true, "x", "a/b x\n"),
        (true, true, "", "a/b (null)\n"), (true, false, "x", "a/b x"), (true, false, "", ""),
    ])
    func `payloads are printed with and without topics and line ends`(
        isVerbose: Bool, endsLines: Bool, payload: String, text: String
    ) {
        var printer = MessagePrinter()
        printer.isVerbose = isVerbose
        printer.endsLines = endsLines
        #expect(Self.text(printer, Self.message(payload)) == text)
    }

    @Test func `the topic is printed in color if colors are enabled`() {
        var printer = MessagePrinter()
        printer.isVerbose = true
        printer.hasColours = true
        #expect(Self.text(printer, Self.message("x")) == "\u{1B}[36ma/b\u{1B}[0m x\n")
    }

    private static func json(_ format: String, _ message: PrintedMessage, isPretty: Bool = false) throws -> String {
        var printer = MessagePrinter()
        printer.format = try MessageFormat(format)
        printer.isPretty = isPretty
        // The time is removed, because it depends on the machine's time zone.
        return text(printer, message).replacing(/"tst":\t?"[^"]*"/, with: "\"tst\":0")
    }

    @Test func `the format %j prints a JSON object with the payload as a string`() throws {
        #expect(
            try Self.json("%j", Self.message("say \"hi\"\n\u{1}", qos: 1))
                == #"{"tst":0,"topic":"a/b","qos":1,"retain":false,"payloadlen":10,"mid":9,"payload":"say \"hi\"\n\u0001"}"#
                + "\n")
        #expect(
            try Self.json("%j", Self.message(""))
                == #"{"tst":0,"topic":"a/b","qos":0,"retain":false,"payloadlen":0,"payload":null}"# + "\n")
    }

    @Test func `the format %J prints the payload as JSON and reports an invalid payload`() throws {
        let payload = #" {"b": [1, 2.50, -0.1e2],"a":null, "a":"\u00e9\/"} "#
        #expect(
            try Self.json("%J", Self.message(payload))
                == #"{"tst":0,"topic":"a/b","qos":0,"retain":false,"payloadlen":\#(payload.utf8.count),"payload":"#
                + #"{"b":[1,2.5,-10],"a":null,"a":"é/"}}"# + "\n")
        var printer = MessagePrinter()
        printer.format = try MessageFormat("%J")
        let printed = printer.print(Self.message("{"))
        #expect(printed.bytes == [0x0A])
        #expect(printed.complaints == ["Error: Message payload is not valid JSON on topic a/b."])
    }

    @Test func `pretty JSON is printed on several lines with tabs`() throws {
        #expect(
            try Self.json("%J", Self.message(#"{"a":[1,{}],"b":{"c":true}}"#), isPretty: true)
                == "{\n\t\"tst\":0,\n\t\"topic\":\t\"a/b\",\n\t\"qos\":\t0,\n\t\"retain\":\tfalse,\n\t\"payloadlen\":\t27,\n"
                + "\t\"payload\":\t{\n\t\t\"a\":\t[1, {\n\t\t\t}],\n\t\t\"b\":\t{\n\t\t\t\"c\":\ttrue\n\t\t}\n\t}\n}\n")
    }

    @Test func `the printed JSON contains the message properties`() throws {
        var message = Self.message("1")
        message.properties = MessageProperties(
            contentType: "t", payloadFormat: .utf8, responseTopic: "r", correlationData: Data("c".utf8),
            messageExpiry: .seconds(5), userProperties: [.init("k", "v"), .init("k", "w")])
        #expect(
            try Self.json("%J", message)
                == #"{"tst":0,"topic":"a/b","qos":0,"retain":false,"payloadlen":1,"properties":{"#
                + #""payload-format-indicator":1,"message-expiry-interval":5,"content-type":"t","response-topic":"r","#
                + #""correlation-data":"c","user-properties":[{"k":"v"},{"k":"w"}]},"payload":1}"# + "\n")
    }

    @Test func `--json prints JSON, text and binary payloads`() throws {
        var printer = MessagePrinter()
        printer.format = .json
        printer.takesAnyPayload = true
        #expect(Self.text(printer, Self.message("no json")).contains(#""payload":"no json"}"#))
        #expect(Self.text(printer, Self.message("[1]")).contains(#""payload":[1]}"#))
        let bytes = PrintedMessage(topic: "t", payload: [0xFF, 0x00])
        #expect(Self.text(printer, bytes).contains(#""payload":"/wA="}"#))
        #expect(Self.text(printer, Self.message("[1700000000123456789]")).contains("[1700000000123456789]"))
    }

    @Test func `--json prints valid JSON if payload and correlation data are not UTF-8`() throws {
        var printer = MessagePrinter()
        printer.format = .json
        printer.takesAnyPayload = true
        var message = PrintedMessage(topic: "t", payload: [0x22, 0xFF, 0x22])
        message.properties = MessageProperties(correlationData: Data([0xFF]))
        let line = printer.print(message).bytes
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        #expect(object["payload"] as? String == "Iv8i")
        #expect((object["properties"] as? [String: Any])?["correlation-data"] as? String == "/w==")
    }
}
