import CourierCore
import Foundation
import Testing

@Suite struct CourierErrorTests {
    @Test func `an error code can be matched in a switch and compared`() {
        let error = CourierError(.queueFull, "The queue is full.")
        switch error.code {
        case .queueFull: break
        default: Issue.record("not matched")
        }
        #expect(error.code == .queueFull)
        #expect(error.code != .storeFull)
        #expect("\(error.code)" == "queueFull")
    }

    @Test func `the description of a CourierError contains the code and message of the error and of its cause`() {
        let cause = CourierError(.storeFull, "The disk is full.")
        let error = CourierError(.queueFull, "The queue is full.", cause: cause)
        #expect(error.description == "queueFull: The queue is full. (cause: storeFull: The disk is full.)")
        #expect(error.localizedDescription == "The queue is full.")
    }

    @Test func `an error's description omits a cause whose text is already in the message`() {
        struct Reset: Error, CustomStringConvertible {
            let description = "connection reset: 127.0.0.1:1883"
        }
        for sentence in [Reset().description, "\(Reset()), before the broker answered."] {
            let error = CourierError(.connectionFailed, sentence, cause: Reset())
            #expect(error.description == "connectionFailed: \(sentence)")
            #expect(error.cause is Reset)
        }
        let other = CourierError(.connectionFailed, "No way.", cause: Reset())
        #expect(other.description.contains("(cause: Reset, domain "))
    }

    @Test func `a cause of another error type is shown by domain and code, without its userInfo`() {
        let secret = NSError(domain: "web", code: 7, userInfo: [NSLocalizedDescriptionKey: "token=hunter2"])
        let error = CourierError(.authenticationFailed, "No credentials.", cause: secret)
        var dumped = ""
        dump(error, to: &dumped)
        for text in ["\(error)", error.debugDescription, dumped] {
            #expect(text.contains("domain web, code 7"))
            #expect(!text.contains("hunter2"))
        }
        #expect((error.cause as NSError?)?.localizedDescription == "token=hunter2")
    }

    @Test func `a CourierError that is converted to NSError keeps its domain, code number, message and cause`() {
        let error = CourierError(.decodingFailed, "No adapter.", cause: CourierError(.invalidMessage, "Inner."))
        for bridged in [error as NSError, error.asNSError] {
            #expect(bridged.domain == "CourierErrorDomain")
            #expect(bridged.code == CourierError.Code.decodingFailed.number)
            #expect(bridged.localizedDescription == "No adapter.")
            let inner = bridged.userInfo[NSUnderlyingErrorKey] as? NSError
            #expect(inner?.code == CourierError.Code.invalidMessage.number)
        }
    }

    @Test func `an error exposes the broker's reason code, also as NSError and in a dump`() {
        let error = CourierError(.subscriptionRefused, "Refused.", reasonCode: .quotaExceeded)
        #expect(error.reasonCode == .quotaExceeded)
        #expect(CourierError(.queueFull, "The queue is full.").reasonCode == nil)
        for bridged in [error as NSError, error.asNSError] {
            #expect(bridged.userInfo[CourierError.reasonCodeKey] as? Int == 0x97)
        }
        #expect(CourierError(.queueFull, "Full.").errorUserInfo[CourierError.reasonCodeKey] == nil)
        var dumped = ""
        dump(error, to: &dumped)
        #expect(dumped.contains("Quota exceeded (0x97)"))
    }

    @Test func `the reason code does not increase the size of CourierError`() {
        struct WithoutReason {
            let code: CourierError.Code
            let message: String
            let cause: (any Error)?
        }
        #expect(MemoryLayout<CourierError>.size == MemoryLayout<WithoutReason>.size)
    }

    @Test func `the description of an AuthError hides the userInfo of its underlying error`() {
        let secret = NSError(domain: "web", code: 7, userInfo: [NSLocalizedDescriptionKey: "token=hunter2"])
        let error = AuthError.otherError(secret)
        var dumped = ""
        dump(error, to: &dumped)
        for text in ["\(error)", String(reflecting: error), dumped, error.localizedDescription] {
            #expect(text.contains("web"))
            #expect(!text.contains("hunter2"))
        }
        #expect("\(AuthError.httpError(statusCode: 401))".contains("401"))
    }
}
