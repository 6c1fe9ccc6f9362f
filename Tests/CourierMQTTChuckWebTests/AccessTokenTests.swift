import Testing

@testable import CourierMQTTChuckWeb

struct AccessTokenTests {
    @Test func `a token has 43 characters that are safe in a URL, and no two tokens are equal`() {
        let tokens = (0..<1_000).map { _ in AccessToken.random() }
        #expect(Set(tokens).count == 1_000)
        for token in tokens {
            #expect(token.utf8.count == 43)
            #expect(token.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
        }
    }
}
