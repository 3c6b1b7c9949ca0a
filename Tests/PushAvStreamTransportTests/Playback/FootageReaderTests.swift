import Foundation
import FragmentedMP4
import PushAvStreamTransport
import RecordingFakes
import Synchronization
import Testing
import Transport

/// Where the reading of footage begins, and how it goes on over the ends of recordings and of what is read at once.
@Suite struct FootageReaderTests {
    private typealias Folder = PlaybackTests.Folder

    private static func time(_ seconds: Double) -> Int64 { PlaybackTests.time(seconds) }

    @Test(arguments: [3.0, 3.02, 3.5, 3.98])
    func theFirstPictureIsTheKeyFrameBeforeTheBeginning(_ from: Double) throws {
        let folder = try Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        try recordings.add(start: PlaybackTests.start, seconds: 10)
        var reader = FootageReader(of: "door", from: Self.time(from), until: Self.time(6), in: recordings.store)
        let first = try #require(try reader.next())
        #expect(first.isVideo && first.isSync && first.beginsSection && first.decodeTime == Self.time(3))
        var pictures = 1
        while let sample = try reader.next() { if sample.isVideo { pictures += 1 } }
        #expect(pictures == 75)
    }

    /// The longer of two recordings takes over in the middle of its own pictures, where the index is read again.
    @Test func aRecordingThatTakesOverBeginsWithItsNextKeyFrame() throws {
        let folder = try Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        try recordings.add(start: PlaybackTests.start, seconds: 601, segmentSeconds: 20)
        try recordings.add(
            start: PlaybackTests.start + 590_500, seconds: 20, sequence: 2, connection: 2, width: 640)
        var reader = FootageReader(of: "door", from: Self.time(0), until: Self.time(700), in: recordings.store)
        var last: Int64 = 0
        var takeover: FootageReader.Sample?
        while let sample = try reader.next() {
            guard sample.isVideo else { continue }
            #expect(sample.decodeTime > last)
            last = sample.decodeTime
            if takeover == nil, sample.track.width == 640 { takeover = sample }
        }
        #expect(takeover?.isSync == true)
        #expect(takeover?.decodeTime == Self.time(600.5))
        #expect(last == Self.time(610.46))
    }

    @Test(arguments: [false, true])
    func footageThatIsDeletedBetweenTwoReadingsOfTheIndexIsReported(_ isDeleted: Bool) throws {
        let folder = try Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        try recordings.add(start: PlaybackTests.start, seconds: 620, segmentSeconds: 20)
        let store = ForgetfulRecordings(recordings.store)
        var reader = FootageReader(of: "door", from: Self.time(0), until: Self.time(700), in: store)
        var last: Int64 = 0
        while last < Self.time(590), let sample = try reader.next() { last = sample.decodeTime }
        if isDeleted { store.forget() }
        var fault: PlaybackError?
        do throws(PlaybackError) {
            while let sample = try reader.next() { last = sample.decodeTime }
        } catch {
            fault = error
        }
        #expect(fault == (isDeleted ? .store(.unknownSession) : nil))
        #expect((last > Self.time(601)) == !isDeleted)
    }
}

/// A store whose recordings can be forgotten while their files are still there, as between the two steps of a deletion.
private final class ForgetfulRecordings: RecordingReading {
    private let store: RecordingStore
    private let hasForgotten = Atomic(false)

    init(_ store: RecordingStore) { self.store = store }

    func forget() { hasForgotten.store(true, ordering: .relaxed) }

    private var isEmpty: Bool { hasForgotten.load(ordering: .relaxed) }

    func recordings(_ query: RecordingQuery) throws(RecordingFault) -> [RecordingSummary] {
        isEmpty ? [] : try store.recordings(query)
    }

    func recording(_ id: RecordingSession.ID) throws(RecordingFault) -> StoredRecording {
        guard !isEmpty else { throw .unknownSession }
        return try store.recording(id)
    }

    func segments(of device: String, from: Int64, until: Int64) throws(RecordingFault) -> [RecordingPart] {
        isEmpty ? [] : try store.segments(of: device, from: from, until: until)
    }

    func days(of device: String, offset: @Sendable (_ microseconds: Int64) -> Int) throws(RecordingFault)
        -> [RecordingDay]
    { try store.days(of: device, offset: offset) }

    func totals() throws(RecordingFault) -> [String: RecordingTotals] { try store.totals() }

    func delete(_ id: RecordingSession.ID) throws(RecordingFault) { try store.delete(id) }

    func verify(_ id: RecordingSession.ID) throws(RecordingFault) -> RecordingVerification { try store.verify(id) }

    func unreadable() throws(RecordingFault) -> [UnreadableRecording] { try store.unreadable() }
}
