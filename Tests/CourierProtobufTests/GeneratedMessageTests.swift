import CourierCore
import CourierProtobuf
import Foundation
import Testing

/// Behavior of the generated types apart from their encoded bytes.
struct GeneratedMessageTests {
    @Test func `unknown fields are kept when a message is read and written again`() throws {
        let new = Courier_Test_Everything(
            aDouble: 1.5, anInt32: 7, aString: "old", aPlace: .init(latitude: 3), strings: ["a"])
        var old = try Courier_Test_Older(protobufData: new.protobufData())
        #expect(!old.unknownFields.isEmpty)
        old.aString = "changed"
        var expected = new
        expected.aString = "changed"
        #expect(try Courier_Test_Everything(protobufData: old.protobufData()) == expected)
        old.unknownFields.removeAll()
        #expect(
            try old.protobufData() == Courier_Test_Older(anInt32: 7, aString: "changed", strings: ["a"]).protobufData())
    }

    @Test func `an unknown enum number is read as unrecognized with the same number`() throws {
        let message = Courier_Test_Everything(aMood: .unrecognized(99), moods: [.sad, .unrecognized(-50)])
        let read = try Courier_Test_Everything(protobufData: message.protobufData())
        #expect(read.aMood == .unrecognized(99))
        #expect(read.moods == [.sad, .unrecognized(-50)])
    }

    @Test func `enum cases have the names, numbers and aliases of the proto file`() {
        #expect(Courier_Test_Mood.happy == .glad)
        #expect(Courier_Test_Mood.allCases.map(\.rawValue) == [0, 1, 2, -3, 7])
        #expect(Courier_Test_Mood(rawValue: -3) == .bitterSweet)
        #expect(Courier_Legacy_Legacy.Color() == .red)
    }

    @Test func `an optional field with the value zero differs from an absent field`() throws {
        let message = Courier_Test_Everything(maybeInt32: 0, maybeString: "", wrappedBool: false)
        let read = try Courier_Test_Everything(protobufData: message.protobufData())
        #expect(read.maybeInt32 == 0)
        #expect(read.maybeString == "")
        #expect(read.wrappedBool == false)
        #expect(read.maybeBool == nil)
        #expect(read.wrappedString == nil)
        #expect(try Courier_Test_Everything(anInt32: 0, aString: "").protobufData().isEmpty)
    }

    @Test func `a missing required field is named in the error`() throws {
        let error = #expect(throws: CourierError.self) { try Courier_Legacy_Legacy(protobufBytes: [0x08, 0x01]) }
        #expect(error?.message == "the required field courier.legacy.Legacy.name is missing")
        let whole = Courier_Legacy_Legacy(id: 1, name: "", part: .init())
        #expect(try Courier_Legacy_Legacy(protobufData: whole.protobufData()) == whole)
    }

    @Test func `absent fields return the default values that the schema declares`() {
        let legacy = Courier_Legacy_Legacy()
        #expect(legacy.name == "nobody")
        #expect(legacy.count == nil)
        #expect(legacy.countOrDefault == -42)
        #expect(legacy.greetingOrDefault == "h\"i\n\\ é")
        #expect(legacy.blobOrDefault == [1, 255, 97, 34, 92])
        #expect(legacy.colorOrDefault == .blue)
        #expect(legacy.ratioOrDefault == 1.5e10)
        #expect(legacy.limitOrDefault == -.infinity)
        #expect(legacy.isOnOrDefault)
        #expect(legacy.bigOrDefault == .max)
        #expect(legacy.notANumberOrDefault.isNaN)
    }

    @Test func `changing a copy of a recursive message does not change the original`() {
        let inner = Courier_Test_Everything(anInt32: 1)
        let outer = Courier_Test_Everything(child: inner)
        var copy = outer
        copy.child?.anInt32 = 2
        #expect(outer.child?.anInt32 == 1)
        #expect(copy != outer)
        #expect(Set([outer, copy, outer]).count == 2)
    }

    @Test func `a timestamp keeps its nanoseconds and converts from and to Date`() throws {
        let time = ProtobufTimestamp(seconds: 1_700_000_000, nanos: 123_456_789)
        let read = try ProtobufTimestamp(protobufData: time.protobufData())
        #expect(read == time)
        #expect(abs(time.date.timeIntervalSince1970 - 1_700_000_000.123_456_789) < 1e-6)
        #expect(
            ProtobufTimestamp(Date(timeIntervalSince1970: -0.25)) == ProtobufTimestamp(seconds: -1, nanos: 750_000_000))
        #expect(ProtobufTimestamp(.distantFuture) > ProtobufTimestamp(.distantPast))
        #expect(ProtobufTimestamp(Date(timeIntervalSince1970: .infinity)).seconds == 253_402_300_799)
    }

    @Test func `a Date with NaN seconds becomes the timestamp of 1970-01-01`() {
        for seconds in [Double.nan, -Double.nan, Double.signalingNaN] {
            #expect(ProtobufTimestamp(Date(timeIntervalSince1970: seconds)) == ProtobufTimestamp())
            #expect(ProtobufTimestamp(Date(timeIntervalSinceReferenceDate: seconds)) == ProtobufTimestamp())
        }
    }

    @Test func `a duration above the Protobuf maximum is cut to the maximum`() throws {
        let message = Courier_Test_Everything(lasted: .seconds(Int64.max))
        #expect(try Courier_Test_Everything(protobufData: message.protobufData()).lasted == .seconds(315_576_000_000))
    }

    @Test func `a message can be packed into ProtobufAny and unpacked with its type`() throws {
        let note = Note(title: "in a box")
        let any = try ProtobufAny(note)
        #expect(any.typeURL == "type.googleapis.com/Note")
        #expect(try any.message(Note.self) == note)
        #expect(try any.message(Courier_Shared_Place.self) == nil)
    }
}
