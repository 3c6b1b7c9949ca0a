import Foundation
import Glibc
import Testing
import Transport

@testable import PushAvStreamTransport

/// The file of the upload endpoints cannot be used.
@Suite("Upload endpoints whose file cannot be used") struct LostUploadEndpointTests {
    private let folder: String
    private var path: String { "\(folder)/\(UploadEndpoints.fileName)" }

    init() throws {
        folder = try UploadFixtures.temporaryFolder()
    }

    /// A file with two endpoints, and how it describes them.
    private func provision() throws -> [UploadEndpointSummary] {
        let endpoints = UploadEndpoints(stateFolder: folder)
        for name in ["cloud", "store"] { try put(name, in: endpoints) }
        #expect(endpoints.loss == nil)
        return endpoints.summaries
    }

    @discardableResult
    private func put(_ name: String, in endpoints: UploadEndpoints) throws -> UInt16 {
        try endpoints.put(name: name, kind: .tls(certificateChain: nil, privateKey: nil), rootCertificates: nil)
            .summary.id
    }

    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test(
        arguments: [
            ("", "damaged"), ("{", "damaged"), (#"{"version":1,"nextID":3,"endpoints":[{}]}"#, "damaged"),
            (#"{"version":2,"nextID":1,"endpoints":[]}"#, "newer"), (#"{"version":2,"servers":[]}"#, "newer"),
        ])
    func `it is set aside as it is, and its owner reads so until a sound copy is back`(
        text: String, word: String
    ) throws {
        let summaries = try provision()
        let sound = try bytes(path)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let aside = "\(path).\(word)-1"
        let kind = try #require(UploadEndpointsLoss.Kind(rawValue: word))
        // Whoever starts the gateway again and again learns the same.
        for _ in 0..<2 {
            let endpoints = UploadEndpoints(stateFolder: folder)
            #expect(endpoints.loss?.path == aside)
            #expect(endpoints.loss?.reason == .endpoints(.setAside(kind, insteadOf: UploadEndpoints.fileName)))
            #expect(endpoints.summaries == [] && !exists(path))
            #expect(try bytes(aside) == Data(text.utf8))
        }
        // An endpoint that is made meanwhile has no id that one in the file may have.
        let made = try put("new", in: UploadEndpoints(stateFolder: folder))
        #expect(made == 1_001)
        let later = UploadEndpoints(stateFolder: folder)
        #expect(later.loss?.path == aside && later.summaries.map(\.id) == [1_001])
        #expect(try bytes(aside) == Data(text.utf8))
        // The owner puts a sound copy in its place.
        try sound.write(to: URL(fileURLWithPath: path))
        let restored = UploadEndpoints(stateFolder: folder)
        #expect(restored.loss == nil && restored.summaries == summaries)
    }

    @Test func `without the file that was set aside, its endpoints are gone`() throws {
        _ = try provision()
        try Data("{".utf8).write(to: URL(fileURLWithPath: path))
        try put("new", in: UploadEndpoints(stateFolder: folder))
        try FileManager.default.removeItem(atPath: "\(path).damaged-1")
        let endpoints = UploadEndpoints(stateFolder: folder)
        #expect(endpoints.loss == nil && endpoints.summaries.map(\.name) == ["new"])
    }

    @Test func `a second damaged file does not take the place of the first`() throws {
        for number in 1...3 as ClosedRange<UInt16> {
            try Data("damage \(number)".utf8).write(to: URL(fileURLWithPath: path))
            let endpoints = UploadEndpoints(stateFolder: folder)
            #expect(endpoints.loss?.path == "\(path).damaged-\(number)")
            #expect(try bytes("\(path).damaged-\(number)") == Data("damage \(number)".utf8))
            let made = try put("new", in: endpoints)
            #expect(made == number * 1_000 + 1)
        }
        #expect(try bytes("\(path).damaged-1") == Data("damage 1".utf8))
    }

    @Test func `a file that cannot be read stays in its place, and nothing is written there`() throws {
        // Something that nobody can read as a file.
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let endpoints = UploadEndpoints(stateFolder: folder)
        let loss = try #require(endpoints.loss)
        #expect(loss.path == path && loss.reason == .endpoints(.unreadable(.system(EISDIR))))
        #expect(throws: UploadEndpointError.storage(loss)) { try put("new", in: endpoints) }
        #expect(endpoints.summaries == [])
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(names == [UploadEndpoints.fileName])
    }

    @Test func `no new endpoint gets an id that something names`() throws {
        // The file is gone, or an older copy is in its place.
        let endpoints = UploadEndpoints(stateFolder: folder, users: Naming(ids: [1, 2, 4]))
        let made = try [put("a", in: endpoints), put("b", in: endpoints)]
        #expect(made == [3, 5])
    }

    /// Something names endpoints that are not there.
    private struct Naming: UploadEndpointUsers {
        let ids: Set<UInt16>

        func uses(_ endpoint: UInt16) -> Bool { ids.contains(endpoint) }
        func giveUp(_ endpoint: UInt16) -> Bool { !ids.contains(endpoint) }
        func takeBack(_ endpoint: UInt16) {}
    }
}
