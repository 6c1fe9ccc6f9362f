import Foundation
import Testing

@testable import CourierCore

@Suite struct MessagePropertiesTests {
    private static let full = MessageProperties(
        contentType: "text/plain", payloadFormat: .utf8, responseTopic: "answers", correlationData: Data([1, 2]),
        messageExpiry: .seconds(9), userProperties: [.init("a", "1"), .init("a", "2")])

    @Test func `MessageProperties are equal if set by the initializer or set property by property`() {
        var single = MessageProperties()
        single.contentType = "text/plain"
        single.payloadFormat = .utf8
        single.responseTopic = "answers"
        single.correlationData = Data([1, 2])
        single.messageExpiry = .seconds(9)
        single.userProperties.append(.init("a", "1"))
        single.userProperties.append(.init("a", "2"))
        for properties in [single, Self.full] {
            #expect(properties.contentType == "text/plain")
            #expect(properties.payloadFormat == .utf8)
            #expect(properties.responseTopic == "answers")
            #expect(properties.correlationData == Data([1, 2]))
            #expect(properties.messageExpiry == .seconds(9))
            #expect(properties.userProperties == [.init("a", "1"), .init("a", "2")])
        }
        #expect(single == Self.full)
        #expect(single.hashValue == Self.full.hashValue)
    }

    @Test func `changing a copy of MessageProperties does not change the original`() {
        var copy = Self.full
        copy.contentType = nil
        copy.userProperties[0].value = "changed"
        #expect(copy != Self.full)
        #expect(Self.full.contentType == "text/plain")
        #expect(Self.full.userProperties[0].value == "1")
        #expect(copy.responseTopic == "answers")
    }

    @Test func `MessageProperties is empty after all its properties are cleared`() {
        var properties = MessageProperties(contentType: "a", userProperties: [.init("b", "c")])
        #expect(!properties.isEmpty)
        properties.contentType = nil
        #expect(!properties.isEmpty)
        properties.userProperties = []
        #expect(properties.isEmpty)
        #expect(properties == MessageProperties())
        #expect(MessageProperties(contentType: nil, userProperties: []).isEmpty)
        #expect(MessageProperties().userProperties.isEmpty && MessageProperties().payloadFormat == .unspecified)
    }
}
