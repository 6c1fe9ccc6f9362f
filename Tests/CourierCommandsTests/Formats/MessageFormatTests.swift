import CommandArguments
import CourierCore
import Foundation
import Testing

@testable import CourierCommands

struct MessageFormatTests {
    private static let message = PrintedMessage(
        topic: "room/7", payload: Array("on!".utf8), qos: 1, isRetained: true, packetID: 42,
        properties: MessageProperties(
            contentType: "text/plain", payloadFormat: .utf8, responseTopic: "back", correlationData: Data("id".utf8),
            messageExpiry: .seconds(30), userProperties: [.init("a", "1"), .init("b", "2")]),
        time: WallTime(seconds: 1_700_000_000, nanoseconds: 12_345_678))

    private static func print(_ format: String, _ message: PrintedMessage = message) throws -> String {
        var printer = MessagePrinter()
        printer.format = try MessageFormat(format)
        printer.endsLines = false
        return String(decoding: printer.print(message).bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("%%", "%"), ("@@", "@"), ("%t", "room/7"), ("%p", "on!"), ("%l", "3"),
        ("%q", "1"), ("%r", "1"), ("%m", "42"), ("%x", "6f6e21"), ("%X", "6F6E21"), ("%C", "text/plain"),
        ("%D", "id"), ("%E", "30"), ("%F", "1"), ("%P", "a:1 b:2"), ("%R", "back"), ("%A", ""), ("%S", ""),
        ("%U", "1700000000.012345678"), ("@s", "1700000000"), ("@N", "012345678"), ("[%t] %p", "[room/7] on!"),
        // Widths.
        ("%10t|", "    room/7|"), ("%-10t|", "room/7    |"), ("%3t|", "room/7|"), ("%.4t|", "room|"),
        ("%8.4t|", "    room|"), ("%-8.4t|", "room    |"), ("%010t|", "    room/7|"),
        ("%5l|", "    3|"), ("%05l|", "00003|"), ("%-5l|", "3    |"), ("%6m|", "    42|"), ("%06m|", "000042|"),
        ("%5p|", "  on!|"), ("%05p|", "00on!|"), ("%-5p|", "on!  |"), ("%2p|", "on|"), ("%02p|", "on|"),
        // printf takes the sign of a width for a flag, so a field on the left has spaces even without a width.
        ("%-p|", "on!   |"),
        ("%8x|", "  6f6e21|"), ("%08x|", "006f6e21|"), ("%-8x|", "6f6e21  |"), ("%2x|", "6f6e|"),
        // Hexadecimal digits in groups.
        ("%.2x", "6f 6e 21"), ("%.2:x", "6f:6e:21"), ("%.4-X", "6F6E-21"), ("%.1 x", "6 f 6 e 2 1"),
        ("%4A|", "    |"), ("%04S|", "0000|"), ("%5C|", "text/plain|"), ("%12C|", "  text/plain|"),
        ("\\n\\t\\\\\\r\\a\\e\\v", "\n\t\\\r\u{7}\u{1B}\u{B}"), ("\\0", "\0"),
    ])
    func `every format letter, flag, width and precision gives the same output as in mosquitto_sub`(
        format: String, text: String
    ) throws {
        #expect(try Self.print(format) == text)
    }

    @Test(arguments: [("%S", "7"), ("%4S|", "   7|"), ("%04S|", "0007|"), ("%-4S|", "7   |")])
    func `the format %S prints the first subscription identifier`(format: String, text: String) throws {
        var message = Self.message
        message.properties.subscriptionIdentifiers = [7, 9]
        #expect(try Self.print(format, message) == text)
    }

    @Test(arguments: [
        ("%C|", "|"), ("%5C|", "     |"), ("%05E|", "00000|"), ("%E|", "|"), ("%F|", "|"), ("%R|", "|"), ("%5R|", "|"),
        ("%P|", "|"), ("%D|", "|"), ("%m", "0"), ("%r", "0"), ("%p", ""), ("%3p|", "   |"), ("%x|", "|"),
    ])
    func `a format letter prints blanks or zeros if the message lacks the property`(format: String, text: String) throws
    {
        #expect(try Self.print(format, PrintedMessage(topic: "t", payload: [])) == text)
    }

    @Test(arguments: [
        ("%f", "1.500000"), ("%.1f", "1.5"), ("%8.2f|", "    1.50|"), ("%08.2f|", "00001.50|"),
        ("%-8.2f|", "1.50    |"),
    ])
    func `the format %f prints a payload of four bytes as a float`(format: String, text: String) throws {
        let payload = withUnsafeBytes(of: Float(1.5)) { [UInt8]($0) }
        #expect(try Self.print(format, PrintedMessage(topic: "t", payload: payload)) == text)
    }

    @Test func `the format %d prints an eight-byte payload as a double and reports other sizes as an error`() throws {
        let payload = withUnsafeBytes(of: 0.25) { [UInt8]($0) }
        #expect(try Self.print("%.2d", PrintedMessage(topic: "t", payload: payload)) == "0.25")
        var printer = MessagePrinter()
        printer.format = try MessageFormat("%d%f")
        #expect(
            printer.print(Self.message).complaints == [
                "requested double printing, but non-double data received",
                "requested float printing, but non-float data received",
            ])
    }

    @Test(arguments: [
        ("%", "Incomplete format specifier."), ("%-", "Incomplete format specifier."),
        ("%05", "Incomplete format specifier."), ("%5.", "Incomplete format specifier."),
        ("@", "Incomplete format specifier."), ("\\", "Incomplete escape specifier."),
        ("%z", "Invalid format specifier 'z'."), ("%5k", "Invalid format specifier 'k'."),
        ("\\q", "Invalid escape specifier 'q'."),
    ])
    func `an invalid format is refused with a specific error message`(format: String, message: String) {
        #expect {
            try MessageFormat(format)
        } throws: { error in
            (error as? ArgumentError)?.message == message
        }
    }

    @Test func `a huge field width in a format is reduced to the limit`() throws {
        #expect(try Self.print("%99999999999p").utf8.count == MessageFormat.widthLimit)
    }

    @Test func `the format %I prints the date, the time and the zone offset`() throws {
        let text = try Self.print("%I")
        #expect(text.contains(/^2023-11-1[45]T\d\d:\d\d:20[+-]\d{4}$/))
    }
}
