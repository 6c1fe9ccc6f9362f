import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ChildProcessTests {
    @Test func `ChildProcess sends SIGTERM again if the child process ignores the first signal`() async throws {
        let program = try ChildProcess([
            "/bin/sh", "-c", "trap 'trap - TERM' TERM; echo ready; while :; do sleep 0.01; done",
        ])
        #expect(await program.lastWords(before: "ready") == nil)
        program.end(by: SIGTERM)
        #expect(program.id == nil)
    }

    @Test func `waitForEnd() returns the exit status of a child process`() async throws {
        let program = try ChildProcess(["/bin/sh", "-c", "exit 3"])
        #expect(await program.lastWords(before: "ready") == "")
        #expect(program.waitForEnd() == 3 << 8)
        program.end(by: SIGTERM)
    }
}
