import Dispatch
import Foundation
import Glibc
import PushAvStreamTransport
import Testing
import Transport

@testable import RecordingUpload

/// A disk that does not answer when a privacy switch is set.
@Suite(.timeLimit(.minutes(10))) struct DiscardKeeperTests {
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
            #expect(failure?.reason == .noAnswer)
        }
        isHung.withLock { $0 = false }
        answer.signal()
        let failure = keeper.keep(patience: .seconds(50))
        #expect(failure == nil)
        let kept = try folders.discarded(in: "door/1")
        #expect(kept.map(\.number).sorted() == [1, 2, 3])
    }

    private func segment(_ number: UInt32) -> DiscardedSegment { DiscardedSegment(track: 0, number: number) }

    @Test func `what could not be written while a disk was away is written when it is back`() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(atPath: "\(root)/door/1", withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: root, toPath: "\(root)-mounted")
        defer { try? FileManager.default.removeItem(atPath: "\(root)-mounted") }
        // The mount point has the folder of another recording.
        try FileManager.default.createDirectory(atPath: "\(root)/yard/1", withIntermediateDirectories: true)
        let isAway = Locked(true)
        let keeper = DiscardKeeper(
            UploadFolders(root: root) { isAway.withLock { $0 } ? .away : nil })
        for number in 1...2 as ClosedRange<UInt32> {
            let failure = keeper.keep(["door/1": [segment(number)]], patience: .seconds(50))
            #expect(failure?.reason == .folder(.away))
        }
        // It is back, but cannot be written yet: a folder is where the temporary file would be.
        try FileManager.default.removeItem(atPath: root)
        try FileManager.default.moveItem(atPath: "\(root)-mounted", toPath: root)
        isAway.withLock { $0 = false }
        let obstacle = "\(root)/door/1/discarded.new"
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: true)
        let refused = keeper.keep(["door/1": [segment(3)]], patience: .seconds(50))
        #expect(refused == UploadStorageFailure(path: obstacle, reason: .system(EEXIST)))
        try FileManager.default.removeItem(atPath: obstacle)
        let failure = keeper.keep(patience: .seconds(50))
        #expect(failure == nil)
        let kept = try UploadFolders(root: root).discarded(in: "door/1")
        #expect(kept.map(\.number).sorted() == [1, 2, 3])
    }

    @Test func `a recording whose folder cannot be written does not keep others from being written`() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let folders = UploadFolders(root: root)
        let obstacle = "\(root)/door/1/discarded.new"
        for path in [obstacle, "\(root)/yard/1"] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        let keeper = DiscardKeeper(folders)
        let failure = keeper.keep(["door/1": [segment(1)], "yard/1": [segment(2)]], patience: .seconds(50))
        #expect(failure?.path.contains("door/1") == true)
        let kept = try folders.discarded(in: "yard/1")
        #expect(kept == [segment(2)])
        // The failure is reported again when something else is written.
        let again = keeper.keep(["yard/1": [segment(3)]], patience: .seconds(50))
        #expect(again?.path.contains("door/1") == true)
        try FileManager.default.removeItem(atPath: obstacle)
        let last = keeper.keep(patience: .seconds(50))
        #expect(last == nil)
        let late = try folders.discarded(in: "door/1")
        #expect(late == [segment(1)])
    }
}
