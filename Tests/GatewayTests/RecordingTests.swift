import Foundation
import HTTPTypes
import HomeTypes
import NIOCore
import RecordingFakes
import Testing
import Transport

@testable import Gateway
@testable import PushAvStreamTransport

/// The routes of recordings, over a real store in a folder.
@Suite struct RecordingTests {
    static let start: Int64 = 1_795_300_000_000

    static func time(_ seconds: Double) -> String {
        WallTime(millisecondsSince1970: start + Int64(seconds * 1_000)).iso8601
    }

    static func range(_ from: Double, _ until: Double) -> String { "from=\(time(from))&until=\(time(until))" }

    /// A gateway with two recordings: 0 to 10 s, and 60 to 64 s.
    struct Prepared {
        let folder: TemporaryFolder
        let recordings: PreparedRecordings
        let gateway: TestGateway
        let switches = Locked(false)

        init() throws {
            self.folder = try TemporaryFolder()
            self.recordings = try PreparedRecordings(folder: self.folder.path)
            try self.recordings.add(start: RecordingTests.start, seconds: 10)
            try self.recordings.add(start: RecordingTests.start + 60_000, seconds: 4, sequence: 2)
            let switches = self.switches
            self.gateway = try TestGateway(
                recordings: RecordingAccess(store: self.recordings.store) { _, _ in
                    RecordingAccess.Permit { switches.withLock { $0 } ? "Front door is switched off" : nil }
                })
        }
    }

    static let base = "/v1/devices/door/recordings"

    @Test func listsPageByPage() async throws {
        let prepared = try Prepared()
        for number in 3...12 {
            try prepared.recordings.add(
                start: Self.start + Int64(number) * 100_000, seconds: 1, sequence: UInt32(number))
        }
        try await prepared.gateway.run { client in
            for order in ["newest", "oldest"] {
                var ids: [String] = []
                var after = ""
                for _ in 0..<10 {
                    let page = try await client.get("\(Self.base)?limit=5&order=\(order)\(after)")
                        .decoded(RecordingList.self)
                    ids += page.recordings.map(\.id)
                    guard let next = page.next else { break }
                    after = "&after=\(next)"
                }
                #expect(ids.count == 12)
                #expect(Set(ids).count == 12)
                #expect(order == "oldest" ? ids == ids.sorted() : ids == ids.sorted(by: >))
            }
            let one = try await client.get("\(Self.base)?\(Self.range(5, 20))").decoded(RecordingList.self)
            let recording = try #require(one.recordings.first)
            #expect(one.recordings.count == 1)
            #expect(recording.start == Self.time(0))
            #expect(recording.end == Self.time(10))
            #expect(recording.trigger.reason == "motion in Driveway")
            #expect(recording.endReason == "lengthReached")
            for query in ["after=x", "limit=0", "order=both", "from=yesterday"] {
                #expect(try await client.get("\(Self.base)?\(query)").status == .badRequest, "\(query)")
            }
            #expect(try await client.get("/v1/devices/attic/recordings").status == .notFound)
            #expect(try await client.send(.get, Self.base, token: nil).status == .unauthorized)
        }
    }

    @Test func answersWaitForTheRecordingsOfEarlierRuns() async throws {
        let folder = try TemporaryFolder()
        let recordings = try PreparedRecordings(folder: folder.path)
        let recovery = RecordingRecovery()
        var access = RecordingAccess(store: recordings.store, recovery: recovery)
        // The test says when the recovery ends, however busy the machine is.
        access.recoveryPatience = .seconds(3_600)
        let gateway = try TestGateway(recordings: access)
        try await gateway.run { client in
            async let list = client.get(Self.base)
            async let export = client.get("\(Self.base)/export.mp4?\(Self.range(1, 3))")
            // Both requests come over one connection, which takes the second after the answer to the first.
            #expect(await becomesTrue { recovery.waiterCount == 1 })
            // What the store reads after the start.
            try recordings.add(start: Self.start, seconds: 4)
            recovery.end()
            #expect(try await list.decoded(RecordingList.self).recordings.count == 1)
            #expect(try await export.status == .ok)
        }
    }

    @Test func showsDaysDetailsAndFootage() async throws {
        let prepared = try Prepared()
        try await prepared.gateway.run { client in
            let days = try await client.get("\(Self.base)/days?timeZone=Asia/Tokyo").decoded(RecordingDayList.self)
            #expect(days.days.map(\.recordings) == [2])
            #expect(days.days.map(\.recordedSeconds) == [14])
            let list = try await client.get(Self.base).decoded(RecordingList.self)
            let id = try #require(list.recordings.last?.id)
            let details = try await client.get("\(Self.base)/\(id)").decoded(RecordingDetails.self)
            #expect(details.tracks.map(\.kind) == ["video", "audio"])
            let segments = try await client.get("\(Self.base)/\(id)/segments").decoded(RecordingSegmentList.self)
            #expect(segments.segments.filter { $0.track == "main" }.map(\.durationSeconds) == [2, 2, 2, 2, 2])
            let footage = try await client.get("\(Self.base)/footage?\(Self.range(3, 62))")
                .decoded(RecordingFootage.self)
            #expect(footage.parts.count == 2)
            #expect(footage.parts[0].start == Self.time(3))
            #expect(footage.parts[0].originMilliseconds == Double(Self.start))
            let none = try await client.get("\(Self.base)/footage?\(Self.range(20, 30))").decoded(RecordingFootage.self)
            #expect(none.parts.isEmpty)
            let media = try #require(footage.parts[0].segments.first { $0.track == "main" }).media
            let segment = try await client.get("\(Self.base)/\(media)")
            #expect(segment.status == .ok)
            #expect(segment.headers[.contentType] == "video/mp4")
            let tag = try #require(segment.headers[.eTag])
            let again = try await client.send(.get, "\(Self.base)/\(media)", headers: [.ifNoneMatch: tag])
            #expect(again.status == .notModified)
            for path in ["x", "\(id)/tracks/main/99.m4s", "\(id)/tracks/main/x", "\(id)/tracks/attic/1.m4s"] {
                #expect(try await client.get("\(Self.base)/\(path)").status == .notFound, "\(path)")
            }
        }
    }

    @Test func exportsWithLengthAndRangesOfBytes() async throws {
        let prepared = try Prepared()
        try await prepared.gateway.run { client in
            let path = "\(Self.base)/export.mp4?\(Self.range(2.5, 8))"
            let whole = try await client.get(path)
            #expect(whole.status == .ok)
            #expect(whole.headers[.contentType] == "video/mp4")
            #expect(whole.headers[.contentLength] == "\(whole.body.readableBytes)")
            #expect(whole.headers[.contentDisposition]?.hasPrefix("attachment; filename=\"door-2026-11-2") == true)
            let bytes = Array(whole.body.readableBytesView)
            let tag = try #require(whole.headers[.eTag])
            for (text, expected) in [
                ("bytes=0-99", 0..<100), ("bytes=100-", 100..<bytes.count), ("bytes=-7", bytes.count - 7..<bytes.count),
                ("bytes=5-99999999", 5..<bytes.count),
            ] {
                let part = try await client.send(.get, path, headers: [.range: text, .ifRange: tag])
                #expect(part.status == .partialContent, "\(text)")
                #expect(Array(part.body.readableBytesView) == Array(bytes[expected]), "\(text)")
                #expect(
                    part.headers[.contentRange]
                        == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/\(bytes.count)")
            }
            let other = try await client.send(.get, path, headers: [.range: "bytes=0-9", .ifRange: "\"x\""])
            #expect(other.status == .ok)
            let behind = try await client.send(.get, path, headers: [.range: "bytes=99999999-"])
            #expect(behind.status == .rangeNotSatisfiable)
            #expect(try await client.get("\(Self.base)/export.mp4?\(Self.range(20, 30))").status == .notFound)
            #expect(try await client.get("\(Self.base)/export.mp4").status == .badRequest)
            #expect(try await client.get("\(Self.base)/export.mp4?\(Self.range(9, 3))").status == .badRequest)
        }
    }

    @Test func linksShowTheirRangeWithoutAToken() async throws {
        let prepared = try Prepared()
        try await prepared.gateway.run { client in
            let made = try await client.send(.post, "\(Self.base)/links?\(Self.range(0, 10))")
            #expect(made.status == .created)
            let link = try made.decoded(RecordingLinkAnswer.self)
            // No program may read by RTSP here.
            #expect(link.rtsp == nil)
            let playlist = try await client.send(.get, link.playlist, token: nil)
            #expect(playlist.status == .ok)
            #expect(playlist.text.contains("recordings/video.m3u8"))
            let folder = link.playlist.replacingOccurrences(of: ".m3u8", with: "/")
            let video = try await client.send(.get, folder + "video.m3u8", token: nil)
            #expect(video.text.contains("#EXT-X-PLAYLIST-TYPE:VOD"))
            let media = try #require(video.text.split(separator: "\n").first { $0.hasSuffix(".m4s") })
            #expect(try await client.send(.get, folder + media, token: nil).status == .ok)
            #expect(try await client.send(.get, link.export, token: nil).status == .ok)
            // The other recording is not in the range.
            let list = try await client.get(Self.base).decoded(RecordingList.self)
            let other = try #require(list.recordings.first?.id)
            #expect(
                try await client.send(.get, folder + "\(other)/tracks/main/1.m4s", token: nil).status == .notFound)
            // Nor is the rest of this recording in the range of a shorter link.
            let shorter = try await client.send(.post, "\(Self.base)/links?\(Self.range(0, 1))")
                .decoded(RecordingLinkAnswer.self)
            let part = shorter.playlist.replacingOccurrences(of: ".m3u8", with: "/")
            let few = try await client.send(.get, part + "video.m3u8", token: nil).text
            let all = video.text.split(separator: "\n").filter { $0.hasSuffix(".m4s") }
            let shown = all.filter { few.contains($0) }
            #expect((1..<all.count).contains(shown.count))
            for file in all {
                let status = try await client.send(.get, part + file, token: nil).status
                #expect(status == (few.contains(file) ? .ok : .notFound), "\(file)")
            }
            let wrong = "/v1/recording-links/\(String(repeating: "0", count: 32))/recordings.m3u8"
            #expect(try await client.send(.get, wrong, token: nil).status == .notFound)
        }
    }

    @Test func nothingLeavesWhileTheCameraIsOff() async throws {
        let prepared = try Prepared()
        try await prepared.gateway.run { client in
            let link = try await client.send(.post, "\(Self.base)/links?\(Self.range(0, 10))")
                .decoded(RecordingLinkAnswer.self)
            let list = try await client.get(Self.base).decoded(RecordingList.self)
            let id = try #require(list.recordings.first?.id)
            prepared.switches.withLock { $0 = true }
            for path in [
                "\(Self.base)/export.mp4?\(Self.range(0, 10))", "\(Self.base)/\(id)/tracks/main/1.m4s",
                "\(Self.base)/\(id)/thumbnail.jpg", "\(Self.base)/thumbnail.jpg?at=\(Self.time(1))",
                "/v1/devices/door/recordings.m3u8?\(Self.range(0, 10))", link.playlist, link.export,
            ] {
                let response = try await client.get(path)
                #expect(response.status == .conflict, "\(path)")
                #expect(response.failure?.message == "Front door is switched off", "\(path)")
            }
            // What exists is not a secret.
            #expect(try await client.get(Self.base).status == .ok)
        }
    }

    @Test func onlyTheOwnerDeletes() async throws {
        let prepared = try Prepared()
        try prepared.recordings.add(start: Self.start + 90_000, seconds: 2, sequence: 3, end: nil)
        try await prepared.gateway.run { client in
            let list = try await client.get("\(Self.base)?order=oldest").decoded(RecordingList.self)
            let ids = list.recordings.map(\.id)
            #expect(list.recordings.map(\.isRunning) == [false, false, true])
            let refused = try await client.send(
                .delete, "\(Self.base)/\(ids[0])", token: TestGateway.guestToken)
            #expect(refused.status == .forbidden)
            let running = try await client.send(.delete, "\(Self.base)/\(ids[2])")
            #expect(running.status == .conflict && running.failure?.code == .failedPrecondition)
            #expect(running.failure?.message == "it is being recorded; it can be deleted when it has ended")
            #expect(try await client.send(.delete, "\(Self.base)/\(ids[0])").status == .noContent)
            #expect(try await client.send(.delete, "\(Self.base)/\(ids[0])").status == .notFound)
            #expect(try await client.get("\(Self.base)/\(ids[0])").status == .notFound)
            let rest = try await client.send(.delete, "\(Self.base)?\(Self.range(0, 100))")
                .decoded(RecordingDeletion.self)
            #expect(rest == RecordingDeletion(deleted: 1, kept: 1))
        }
    }

    @Test func aGatewayWithoutRecordingsSaysSo() async throws {
        try await TestGateway().run { client in
            let response = try await client.get(Self.base)
            #expect(response.status == .notImplemented)
        }
    }

    @Test func whatTheRoutesAnswerFitsTheDocument() async throws {
        let prepared = try Prepared()
        let document = OpenAPITests()
        try await prepared.gateway.run { client in
            let list = try await client.get(Self.base).decoded(RecordingList.self)
            let id = try #require(list.recordings.first?.id)
            let template = "/v1/devices/{device}/recordings"
            for (path, request) in [
                ("", "?limit=1"), ("", "?limit=x"), ("/days", "/days"), ("/footage", "/footage?\(Self.range(0, 9))"),
                ("/{recording}", "/\(id)"), ("/{recording}", "/x"), ("/{recording}/segments", "/\(id)/segments"),
                ("/export.mp4", "/export.mp4?\(Self.range(0, 3))"), ("/video.m3u8", "/video.m3u8?\(Self.range(0, 3))"),
                ("/audio.m3u8", "/audio.m3u8?\(Self.range(0, 3))"), (".m3u8", ".m3u8?\(Self.range(0, 3))"),
                ("/{recording}/tracks/{track}/{file}", "/\(id)/tracks/main/init.mp4"),
                ("/{recording}/tracks/{track}/{file}", "/\(id)/tracks/sound/1.m4s"),
                ("/{recording}/thumbnail.jpg", "/\(id)/thumbnail.jpg"), ("/thumbnail.jpg", "/thumbnail.jpg"),
            ] {
                try document.check(try await client.get(Self.base + request), .get, template + path)
            }
            let link = try await client.send(.post, "\(Self.base)/links?\(Self.range(0, 10))")
            try document.check(link, .post, template + "/links")
            try document.check(
                try await client.send(.delete, "\(Self.base)?\(Self.range(0, 30))"), .delete, template)
            try document.check(try await client.send(.delete, "\(Self.base)/\(id)"), .delete, template + "/{recording}")
        }
    }
}
