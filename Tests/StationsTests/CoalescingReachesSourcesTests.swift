import Cameras
import StationFakes
import Stations
import Testing

/// What a camera is made of passes on whether somebody watches, or it would be read late while somebody does.
@Suite struct CoalescingReachesSourcesTests {
    @Test func aSourceThatIsPutInLearnsWhatTheOneBeforeKnew() {
        let first = FakeCamera()
        let source = ReplaceableSource(first)
        source.setCoalescing(true)
        #expect(first.coalescing == [true])
        let second = FakeCamera()
        source.replace(with: second)
        #expect(second.coalescing == [true])
        source.setCoalescing(false)
        #expect(second.coalescing == [true, false])
        #expect(first.coalescing == [true])
    }

    @Test func bothStreamsOfACameraLearnIt() {
        let main = FakeCamera()
        let substream = FakeCamera()
        let source = MultiStreamSource(main: main, substream: substream)
        source.setCoalescing(true)
        source.setCoalescing(false)
        #expect(main.coalescing == [true, false])
        #expect(substream.coalescing == [true, false])
    }
}
