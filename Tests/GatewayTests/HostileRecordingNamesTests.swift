import Foundation
import HTTPTypes
import HomeTypes
import NIOCore
import PushAvStreamTransport
import Testing
import Transport

@testable import Gateway

/// Names of devices, recordings, tracks and segments that would lead elsewhere, as a client may send them.
@Suite struct HostileRecordingNamesTests {
    private static let hostile = [
        "..", "%2e%2e", "..%2F..%2Fsecret", "%2Fetc%2Fpasswd", "door%00", "%00", ".hidden", "a%5Cb", "%C3%A4",
        "20251122T170351.123Z-1-1%2F..%2F..", String(repeating: "a", count: 4_000), "-1", "%F0%9F%94%94", "deleted",
        "20251122T170351.123Z-18446744073709551616-1", "99999999T999999.999Z-1-1",
    ]

    @Test func `they are not found, in every route, and nothing is read or deleted`() async throws {
        let prepared = try RecordingTests.Prepared()
        // Beside the recordings, where a name with dots would lead.
        let secret = prepared.folder.path + "/secret"
        try Data("the secret".utf8).write(to: URL(fileURLWithPath: secret))
        let range = RecordingTests.range(0, 100)
        try await prepared.gateway.run { client in
            let list = try await client.get(RecordingTests.base).decoded(RecordingList.self)
            let id = try #require(list.recordings.first?.id)
            for name in Self.hostile {
                let paths = [
                    "/v1/devices/\(name)/recordings", "/v1/devices/\(name)/recordings/\(id)",
                    "/v1/devices/\(name)/recordings/export.mp4?\(range)",
                    "\(RecordingTests.base)/\(name)", "\(RecordingTests.base)/\(name)/tracks/main/1.m4s",
                    "\(RecordingTests.base)/\(id)/tracks/\(name)/1.m4s",
                    "\(RecordingTests.base)/\(id)/tracks/\(name)/init.mp4",
                    "\(RecordingTests.base)/\(id)/tracks/main/\(name)",
                ]
                for path in paths {
                    let answer = try await client.get(path)
                    #expect([400, 404, 414].contains(answer.status.code), "\(path.prefix(120)): \(answer.status)")
                    #expect(!answer.text.contains("the secret"))
                }
                let deleted = try await client.send(.delete, "\(RecordingTests.base)/\(name)")
                #expect([400, 404, 405, 414].contains(deleted.status.code), "\(name.prefix(60)): \(deleted.status)")
            }
            // A recording of one device is not found at another.
            #expect(try await client.get("/v1/devices/yard/recordings/\(id)").status == .notFound)
            #expect(try await client.send(.delete, "/v1/devices/yard/recordings/\(id)").status == .notFound)
            let after = try await client.get(RecordingTests.base).decoded(RecordingList.self)
            #expect(after.recordings.map(\.id) == list.recordings.map(\.id))
        }
        #expect(FileManager.default.fileExists(atPath: secret))
    }
}
