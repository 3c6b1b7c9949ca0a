import Codecs
import Foundation
import FragmentedMP4
import Glibc
import PushAvStreamTransport
import RecordingFakes
import Testing
import Transport

/// What an owner does with recordings, over a real store in a folder.
@Suite struct PlaybackTests {
    /// A folder that is removed with the value.
    final class Folder: Sendable {
        let path: String

        init() throws {
            self.path = NSTemporaryDirectory() + "/playback-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    static let start: Int64 = 1_795_300_000_000
    static let second: Int64 = 1_000_000

    static func time(_ seconds: Double) -> Int64 { start * 1_000 + Int64(seconds * 1e6) }

    static func bytes(_ export: RecordingExport, _ range: Range<Int64>? = nil) throws -> [UInt8] {
        var reader = RecordingExportReader(export, range: range ?? 0..<export.length)
        var result: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 997)
        while true {
            let count = try buffer.withUnsafeMutableBytes { try reader.read(into: $0) }
            if count == 0 { return result }
            result += buffer[..<count]
        }
    }

    @Test func aPlaylistGrowsOnlyWhileSomethingIsRecorded() throws {
        let folder = try Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        try recordings.add(start: Self.start, seconds: 4)
        func text(_ until: Double) throws -> String {
            let range = try RecordedRange(of: "door", from: Self.time(0), until: Self.time(until), in: recordings.store)
            return try #require(RecordingPlaylists(range, mayGrow: true).media(.video)).text
        }
        // The range reaches into the future, and nobody adds anything.
        #expect(try text(60).contains("#EXT-X-ENDLIST"))
        try recordings.add(start: Self.start + 10_000, seconds: 4, sequence: 2, end: nil)
        #expect(try !text(60).contains("#EXT-X-ENDLIST"))
        #expect(try text(8).contains("#EXT-X-ENDLIST"))
    }

    @Test func thePictureOfAMomentWithoutFootageIsFromTheNearestRecording() throws {
        let folder = try Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        let ids = try [0, 9, 40].enumerated().map { number, second in
            try recordings.add(
                start: Self.start + Int64(second) * 1_000, seconds: 2, sequence: UInt32(number + 1)
            ).id
        }
        for (second, expected) in [(1.0, 0), (4.0, 0), (7.0, 1), (10.0, 1), (12.0, 1), (39.0, 2)] {
            let found = try RecordingPicture.recording(of: "door", at: Self.time(second), in: recordings.store)
            #expect(found.session.id == ids[expected], "at \(second) s")
        }
        #expect(throws: PlaybackError.nothingRecorded) {
            try RecordingPicture.recording(of: "door", at: Self.time(25), in: recordings.store)
        }
    }

    @Test func anExportHasExactlyTheSamplesOfItsRange() throws {
        let folder = try Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        try recordings.add(start: Self.start, seconds: 10)
        let footage = try RecordedRange(
            of: "door", from: Self.time(3.5), until: Self.time(7.25), in: recordings.store)
        let export = try RecordingExport(footage)
        #expect(export.range == Self.time(3.5)..<Self.time(7.25))
        #expect(export.file.duration == 3_750_000)
        let file = try Self.bytes(export)
        #expect(Int64(file.count) == export.length)
        // Pictures 75 (the key frame at 3 s) to 181, sound from 80 ms before 3.5 s to 7.25 s; all bytes, in order.
        let pictures = (75...181).map { PreparedRecordings.bytes($0, 0, 40) }
        let packets = (171...362).map { PreparedRecordings.bytes($0, 1, 8) }
        #expect(export.file.samples == pictures.count + packets.count)
        let media = pictures.reduce(0) { $0 + $1.count } + packets.reduce(0) { $0 + $1.count }
        guard case .bytes(let head) = export.file.pieces.first else { return #expect(Bool(false), "no head") }
        #expect(file.count == head.count + media)
        var place = file[...]
        for picture in [pictures[0], pictures[50], pictures[106], packets[0], packets[191]] {
            let found = try #require(place.firstRange(of: picture) ?? file[...].firstRange(of: picture))
            place = file[found.upperBound...]
        }
    }

    @Test func aPartOfAnExportIsThatPartOfTheWhole() throws {
        let folder = try Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        try recordings.add(start: Self.start, seconds: 6)
        let export = try RecordingExport(
            RecordedRange(of: "door", from: Self.time(1), until: Self.time(5), in: recordings.store))
        let whole = try Self.bytes(export)
        for from in stride(from: 0, to: whole.count, by: 311) {
            let until = min(whole.count, from + 777)
            #expect(try Self.bytes(export, Int64(from)..<Int64(until)) == Array(whole[from..<until]))
        }
        let path = folder.path + "/export.mp4"
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        try export.write(to: descriptor)
        close(descriptor)
        #expect(FileManager.default.contents(atPath: path) == Data(whole))
    }

    @Test func recordingsFollowEachOtherWithTheGapBetweenThem() throws {
        let folder = try Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        try recordings.add(start: Self.start, seconds: 4)
        try recordings.add(start: Self.start + 60_000, seconds: 4, sequence: 2)
        let footage = try RecordedRange(
            of: "door", from: Self.time(2), until: Self.time(63), in: recordings.store)
        let kept = try RecordingExport(footage)
        #expect(kept.gaps == [Self.time(4)..<Self.time(60)])
        #expect(kept.file.duration == 61 * Self.second)
        let cut = try RecordingExport(footage, gaps: .cut)
        #expect(cut.file.duration == 5 * Self.second)
        #expect(cut.file.samples == kept.file.samples)
        #expect(kept.entityTag != cut.entityTag)
        #expect(try RecordingExport(footage).entityTag == kept.entityTag)
    }

    @Test func aRecordingInsideOfAnotherIsNotShownTwice() throws {
        let folder = try Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        try recordings.add(start: Self.start, seconds: 10, kind: .continuous)
        try recordings.add(start: Self.start + 2_000, seconds: 3, sequence: 2, connection: 2)
        try recordings.add(start: Self.start + 8_000, seconds: 6, sequence: 3, connection: 2)
        let footage = try RecordedRange(of: "door", from: .min, until: .max, in: recordings.store)
        #expect(
            footage.pieces.map(\.range) == [Self.time(0)..<Self.time(8), Self.time(8)..<Self.time(14)])
        let own = try RecordedRange(of: "door", from: .min, until: .max, connection: 2, in: recordings.store)
        #expect(own.pieces.map(\.range) == [Self.time(2)..<Self.time(5), Self.time(8)..<Self.time(14)])
    }

    @Test func aChangedFormatIsReportedWithTheTimeOfDay() throws {
        let folder = try Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        try recordings.add(start: Self.start, seconds: 4)
        try recordings.add(start: Self.start + 4_000, seconds: 4, sequence: 2, width: 640)
        let footage = try RecordedRange(of: "door", from: .min, until: .max, in: recordings.store)
        let error = #expect(throws: PlaybackError.self) { try RecordingExport(footage) }
        guard case .formatChanges(let at, _, _) = error else { return #expect(Bool(false), "\(error as Any)") }
        #expect(at == Self.time(4))
        #expect(error?.description.contains("export up to that time") == true)
    }

    @Test func nothingRecordedIsReported() throws {
        let folder = try Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        try recordings.add(start: Self.start, seconds: 4)
        #expect(throws: PlaybackError.nothingRecorded) {
            try RecordedRange(of: "door", from: Self.time(10), until: Self.time(20), in: recordings.store)
        }
        #expect(throws: PlaybackError.nothingRecorded) {
            try RecordedRange(of: "attic", from: .min, until: .max, in: recordings.store)
        }
    }

    @Test func aFileThatVanishesWhileItIsReadIsReported() throws {
        let folder = try Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        let session = try recordings.add(start: Self.start, seconds: 6)
        let export = try RecordingExport(
            RecordedRange(of: "door", from: .min, until: .max, in: recordings.store))
        let path = recordings.store.layout.segment(2, of: "main", in: session.id)
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: PlaybackError.unreadable(path: path, reason: .gone)) { try Self.bytes(export) }
    }

    @Test func aPlaylistNamesTheSegmentsOfTheRange() throws {
        let folder = try Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        let first = try recordings.add(start: Self.start, seconds: 6)
        let second = try recordings.add(start: Self.start + 60_000, seconds: 4, sequence: 2)
        let playlists = RecordingPlaylists(
            try RecordedRange(of: "door", from: Self.time(2.5), until: Self.time(62), in: recordings.store))
        let media = try #require(playlists.media(.video))
        #expect(media.segments.map(\.duration) == [2, 2, 2])
        #expect(media.segments.map(\.isDiscontinuous) == [false, false, true])
        #expect(
            media.segments.map(\.uri) == [
                "\(first.id.name)/tracks/main/2.m4s", "\(first.id.name)/tracks/main/3.m4s",
                "\(second.id.name)/tracks/main/1.m4s",
            ])
        #expect(media.segments[0].initialization?.uri == "\(first.id.name)/tracks/main/init.mp4")
        #expect(media.segments[0].capturedAt?.millisecondsSince1970 == Self.start + 2_000)
        #expect(media.segments[1].capturedAt == nil)
        #expect(media.isEnded)
        let sound = try #require(playlists.media(.audio))
        #expect(sound.segments.filter(\.isDiscontinuous).count == 1)
        let variant = try #require(playlists.multivariant { "\($0.rawValue).m3u8" }.variants.first)
        #expect(variant.codecs == ["vp08.00.10.08", "opus"])
        #expect(variant.resolution?.width == 320)
        #expect(variant.bandwidth > 0)
    }

    @Test func aPlaylistSaysTheTimeAgainAfterSomethingIsMissing() throws {
        let folder = try Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        try recordings.add(start: Self.start, seconds: 14, missing: 4..<11)
        let playlists = RecordingPlaylists(
            try RecordedRange(of: "door", from: Self.time(0), until: Self.time(14), in: recordings.store))
        for kind in RecordingPlaylists.Kind.allCases {
            let times = try #require(playlists.media(kind)).segments.map { $0.capturedAt?.millisecondsSince1970 }
            #expect(times == [Self.start, nil, Self.start + 11_000, nil], "\(kind)")
        }
    }

    @Test func soundThatBeginsWithARangeIsReadFromTheSegmentBefore() throws {
        let folder = try Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        try recordings.add(start: Self.start, seconds: 10)
        let export = try RecordingExport(
            RecordedRange(of: "door", from: Self.time(4), until: Self.time(6), in: recordings.store))
        // 80 ms of sound come before the first picture, which begins a segment.
        #expect(export.file.samples == 50 + 104)
        #expect(try Self.bytes(export).firstRange(of: PreparedRecordings.bytes(196, 1, 8)) != nil)
    }

    @Test(arguments: [(2.1, 2), (2.4, 2), (2.6, 3), (3.9, 3), (0, 0), (60, 5)])
    func aThumbnailIsTheNearestKeyFrameOfItsSegment(_ moment: Double, _ expected: Int) throws {
        let folder = try Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        let session = try recordings.add(
            start: Self.start, seconds: 6, keyFrames: PreparedRecordings.keyFrames(6))
        let picture = try RecordingPicture(of: recordings.store.recording(session.id), at: Self.time(moment))
        #expect(picture.time == Self.time(Double(expected)))
        #expect(abs(Int(picture.frame.luma[1_000]) - Int(PreparedRecordings.brightness(ofKeyFrame: expected))) < 8)
    }

    @Test func namesOfRecordingsAreThoseOfTheirFolders() throws {
        let id = RecordingSession.ID(device: "door", start: Self.start, epoch: 4, sequence: 17)
        #expect(RecordingSession.ID(device: "door", name: id.name) == id)
        for name in ["", "x", "../..", id.name + "0x", "20261122T174351.123Z-4", String(repeating: "9", count: 90)] {
            #expect(RecordingSession.ID(device: "door", name: name) == nil, "\(name)")
        }
    }
}
