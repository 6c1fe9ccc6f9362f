import Foundation
import Glibc
import TestSupport
import Testing

@testable import CourierCommands

@Suite struct LineReaderTests {
    private func lines(_ reader: inout LineReader) -> [String] {
        var lines: [String] = []
        while let line = reader.next() { lines.append(String(decoding: line, as: UTF8.self)) }
        return lines
    }

    @Test func `LineReader waits for the lines of a nonblocking input`() throws {
        var ends: [Int32] = [-1, -1]
        // A socket pair is used like a pipe, because child processes can not inherit it.
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        try #require(ends.allSatisfy { fcntl($0, F_SETFL, O_NONBLOCK) == 0 })
        let (readEnd, writeEnd) = (ends[0], ends[1])
        defer { close(readEnd) }
        var reader = LineReader(readEnd)
        Thread.detachNewThread {
            for text in ["one\ntw", "o\nthree"] {
                // Waits, so that the reader first finds no input.
                while write(writeEnd, text, text.utf8.count) < 0 {}
                usleep(20_000)
            }
            close(writeEnd)
        }
        #expect(lines(&reader) == ["one", "two", "three"])
        #expect(reader.problem == nil)
    }

    @Test func `LineReader reports EISDIR if the input is a folder`() throws {
        let folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(folder) }
        var reader = LineReader(folder)
        #expect(lines(&reader).isEmpty)
        #expect(reader.problem?.number == EISDIR)
    }

    @Test func `LineReader reports EMSGSIZE if a line is longer than the limit`() throws {
        let zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC)
        defer { close(zeros) }
        let longest = 1 << 20
        var reader = LineReader(zeros, longest: longest)
        #expect(lines(&reader).isEmpty)
        #expect(reader.problem == .tooLong)
        #expect(reader.bytesRead <= longest + LineReader.chunk)
    }
}
