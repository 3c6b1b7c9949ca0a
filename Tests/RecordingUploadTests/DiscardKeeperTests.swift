import Dispatch
import Foundation
import PushAvStreamTransport
import Testing
import Transport

@testable import RecordingUpload

/// A disk that does not answer when a privacy switch is set.
@Suite(.timeLimit(.minutes(1))) struct DiscardKeeperTests {
    private let root = FileManager.default.temporaryDirectory.appendingPathComponent("discards-\(UUID())").path

    @Test func `a disk that does not answer keeps nobody waiting, and gets everything later`() throws {
        try FileManager.default.createDirectory(atPath: "\(root)/door/1", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        let answer = DispatchSemaphore(value: 0)
        let isHung = Locked(true)
        let folders = UploadFolders(root: root) {
            if isHung.withLock({ $0 }) { answer.wait() }
            return nil
        }
        let keeper = DiscardKeeper(folders)
        // The first one writes, the second one is to follow, and the third one finds that enough wait.
        for number in 1...3 as ClosedRange<UInt32> {
            let failure = keeper.keep(["door/1": [DiscardedSegment(track: 0, number: number)]], patience: .zero)
            #expect(failure?.reason == "the disk does not answer")
        }
        isHung.withLock { $0 = false }
        answer.signal()
        let failure = keeper.keep(patience: .seconds(50))
        #expect(failure == nil)
        let kept = try folders.discarded(in: "door/1")
        #expect(kept.map(\.number).sorted() == [1, 2, 3])
    }
}
