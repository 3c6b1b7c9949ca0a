import Testing
import Transport

@Suite struct LatchTests {
    @Test func `a wait ends when the latch is set, and later waits are over at once`() {
        let (latch, begun, done) = (Latch(), Latch(), [Latch(), Latch()])
        for index in done.indices {
            let isStarted = startDetachedThread(name: "waiter") {
                begun.set()
                if index == 0 { latch.wait() } else { latch.wait(atMost: .seconds(3_600)) }
                done[index].set()
            }
            #expect(isStarted)
        }
        begun.wait()
        #expect(!latch.isSet && done.allSatisfy { !$0.isSet })
        latch.set()
        #expect(done.allSatisfy { $0.wait(atMost: .seconds(120)) })
        latch.set()
        latch.wait()
        #expect(latch.isSet && latch.wait(atMost: .zero))
    }

    @Test func `a wait is over after its time`() {
        let latch = Latch()
        for duration: Duration in [.seconds(-1), .zero, .microseconds(1), .milliseconds(2)] {
            #expect(!latch.wait(atMost: duration))
        }
        #expect(!latch.isSet)
    }
}
