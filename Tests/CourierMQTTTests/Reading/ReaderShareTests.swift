import CourierCore
import Testing

@testable import CourierMQTT

@Suite struct ReaderShareTests {
    private static let payloadSize = 100

    /// A page of `count` messages.
    private static func page(_ count: Int) -> MessagePage {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * payloadSize)
        for number in 0..<count { bytes += [UInt8](repeating: UInt8(number), count: payloadSize) }
        return MessagePage(
            entries: (0..<count).map { number in
                MessagePage.Entry(
                    start: number * payloadSize, byteCount: payloadSize, topic: 0, packetID: nil,
                    qos: .zero, isRetained: false, isDuplicate: false)
            },
            bytes: bytes, topics: ["t"])
    }

    private static func run(_ index: UInt32, isDisposable: Bool = true) -> MessageRun {
        var run = MessageRun()
        run.append(index, byteCount: payloadSize, isDisposable: isDisposable)
        return run
    }

    private static func share(_ indexes: [UInt32], of page: MessagePage) -> [MessageSlice] {
        var share = ReaderShare()
        for index in indexes { share.append(run(index)) }
        share.finish(page)
        return share.take()
    }

    @Test(arguments: [[0], [7, 99], [3, 4, 5], Array(40..<80)] as [[UInt32]])
    func `a reader of few messages in a MessagePage gets copies of these messages`(_ indexes: [UInt32]) throws {
        let page = Self.page(100)
        let slices = Self.share(indexes, of: page)
        let slice = try #require(slices.first)
        #expect(slices.count == 1)
        #expect(slice.map { $0.withPayload { $0[0] } } == indexes.map { UInt8($0) })
        #expect(slice.allSatisfy { $0.page !== page && $0.page.byteCount < page.byteCount / 2 })
    }

    @Test(arguments: [Array(0..<100), Array(10..<70), (0..<100).filter { $0 % 3 > 0 }] as [[UInt32]])
    func `a reader of most messages in a MessagePage shares the page`(_ indexes: [UInt32]) throws {
        let page = Self.page(100)
        let slice = try #require(Self.share(indexes, of: page).first)
        #expect(slice.map { $0.withPayload { $0[0] } } == indexes.map { UInt8($0) })
        #expect(slice.allSatisfy { $0.page === page })
    }

    @Test func `a reader of all messages in a MessagePage shares the page, even if the page has long topics`() throws {
        let topics = (0..<100).map { String(repeating: "t", count: 200) + "\($0)" }
        let entries = (0..<100).map { number in
            MessagePage.Entry(
                start: number, byteCount: 1, topic: number, packetID: nil, qos: .zero, isRetained: false,
                isDuplicate: false)
        }
        let page = MessagePage(entries: entries, bytes: [UInt8](repeating: 1, count: 100), topics: topics)
        var share = ReaderShare()
        for index in 0..<UInt32(100) {
            var run = MessageRun()
            run.append(index, byteCount: 1, isDisposable: true)
            share.append(run)
        }
        share.finish(page)
        let slice = try #require(share.take().first)
        #expect(slice.allSatisfy { $0.page === page })
        #expect(slice.byteCount > 20_000)
    }

    @Test func `a reader of one message shares the whole MessagePage if the page is small`() throws {
        let page = Self.page(5)
        let slice = try #require(Self.share([4], of: page).first)
        #expect(slice.allSatisfy { $0.page === page })
    }

    @Test func `a ReaderShare is reused for the next MessagePage`() throws {
        var share = ReaderShare()
        for round in 0..<3 {
            let page = Self.page(10)
            for index in 0..<UInt32(10 - round) {
                share.append(Self.run(index, isDisposable: index > 3))
            }
            share.finish(page)
            var slices = share.take()
            #expect(slices.map(\.count) == [10 - round])
            #expect(slices.map(\.disposableCount) == [6 - round])
            slices.removeAll(keepingCapacity: true)
            share.reuse(&slices)
        }
    }

    @Test func `messages of an ended reader are inserted before the new messages, in order`() {
        let page = Self.page(4)
        var share = ReaderShare()
        for index: UInt32 in 0..<2 { share.append(Self.run(index)) }
        share.finish(page)
        for index: UInt32 in 2..<4 {
            share.insertEarlier(MessageSlice(ReceivedMessage(page: page, index: index, ticket: nil)))
        }
        #expect(share.finishedCount == 4)
        #expect(share.take().flatMap { $0 }.map { $0.withPayload { $0[0] } } == [2, 3, 0, 1])
    }

    @Test func `dropNewest() limits the number of waiting QoS 0 messages`() {
        let page = Self.page(10)
        var share = ReaderShare()
        for index: UInt32 in 0..<10 { share.append(Self.run(index)) }
        share.finish(page)
        share.dropNewest(beyond: 4)
        #expect(share.finishedCount == 4)
        share.append(MessageSlice(page, [7, 8], tickets: [], disposableCount: 2))
        share.dropNewest(beyond: 4)
        #expect(share.finishedCount == 4)
        #expect(share.take().flatMap { $0 }.map(\.index) == [0, 1, 2, 3])
        #expect(share.finishedCount == 0)
    }
}
