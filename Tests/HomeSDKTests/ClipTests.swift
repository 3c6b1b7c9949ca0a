import Foundation
import HomeTypes
import Testing

@testable import HomeSDK

@Suite(.timeLimit(.minutes(10))) struct ClipTests {
    @Test func `a clip that cannot be fetched leaves the file that it would replace`() async throws {
        let script = ScriptedHome()
        var record = HistoryRecord(id: "h1", kind: .press, deviceID: "d1", timestamp: Date(timeIntervalSince1970: 0))
        record.clip = "/v1/recordings/r1/export.mp4"
        let item = HistoryItem(script.model, record, device: nil)
        let folder = FileManager.default.temporaryDirectory.appending(path: "clips-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "door.mp4")
        try Data("kept".utf8).write(to: file)
        let error = await #expect(throws: HomeError.self) { try await item.saveClip(to: file) }
        #expect(error?.code == .unavailable)
        #expect(try Data(contentsOf: file) == Data("kept".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["door.mp4"])
    }
}
