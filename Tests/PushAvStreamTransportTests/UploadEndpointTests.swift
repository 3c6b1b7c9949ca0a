import DTLS
import Foundation
import Testing
import Transport

@testable import PushAvStreamTransport

@Suite("Endpoints of uploads") struct UploadEndpointTests {
    private let pem = TestPEM()

    @Test func `endpoints survive a restart, keep their ids, and show no secrets`() throws {
        let folder = try UploadFixtures.temporaryFolder()
        let endpoints = UploadEndpoints(stateFolder: folder)
        let (first, isNew) = try endpoints.put(
            name: "cloud", kind: .tls(certificateChain: pem.certificate, privateKey: pem.key),
            rootCertificates: pem.certificate)
        #expect(first.id == 1 && isNew)
        let store = try endpoints.put(
            name: "store",
            kind: .s3(.init(accessKeyID: "AKID", secretAccessKey: "hidden-words"), region: "eu-central-1"),
            rootCertificates: nil)
        #expect(store.summary.id == 2)
        #expect(
            try !endpoints.put(
                name: "cloud", kind: .tls(certificateChain: nil, privateKey: nil),
                rootCertificates: nil
            ).isNew)
        let json = String(decoding: try JSONEncoder().encode(endpoints.summaries), as: UTF8.self)
        #expect(!json.contains("hidden") && !json.contains("PRIVATE"))
        let again = UploadEndpoints(stateFolder: folder)
        #expect(again.summaries == endpoints.summaries)
        #expect(again.endpoint(2) == endpoints.endpoint(2))
        try again.delete(name: "store")
        #expect(!again.isProvisioned(2) && again.isProvisioned(1) && again.isProvisioned(0))
        // The id of a deleted endpoint does not come back.
        let third = try again.put(
            name: "third", kind: .tls(certificateChain: nil, privateKey: nil), rootCertificates: nil)
        #expect(third.summary.id == 3)
        let path = "\(folder)/\(UploadEndpoints.fileName)"
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }

    @Test func `an endpoint that is in use is not deleted`() throws {
        let users = Users(used: [1])
        let folder = try UploadFixtures.temporaryFolder()
        let endpoints = UploadEndpoints(stateFolder: folder, users: users)
        try endpoints.put(name: "cloud", kind: .tls(certificateChain: nil, privateKey: nil), rootCertificates: nil)
        #expect(throws: UploadEndpointError.inUse("cloud")) { try endpoints.delete(name: "cloud") }
        #expect(throws: UploadEndpointError.unknown("other")) { try endpoints.delete(name: "other") }
        #expect(endpoints.isProvisioned(1))
        #expect(users.log == ["1 is asked for"])
        users.used = []
        try endpoints.delete(name: "cloud")
        #expect(!endpoints.isProvisioned(1))
    }

    @Test func `an endpoint whose deletion the disk does not take is there again`() throws {
        let folder = try UploadFixtures.temporaryFolder()
        let users = Users(used: [])
        let endpoints = UploadEndpoints(stateFolder: folder, users: users)
        try endpoints.put(name: "cloud", kind: .tls(certificateChain: nil, privateKey: nil), rootCertificates: nil)
        try FileManager.default.removeItem(atPath: folder)
        #expect(throws: UploadEndpointError.self) { try endpoints.delete(name: "cloud") }
        #expect(endpoints.isProvisioned(1))
        #expect(users.log == ["1 is asked for", "1 is taken back"])
    }

    @Test func `material that cannot work is refused, and nothing changes`() throws {
        let folder = try UploadFixtures.temporaryFolder()
        let endpoints = UploadEndpoints(stateFolder: folder)
        let other = TestPEM()
        let refused: [(String, UploadEndpoint.Kind, String?)] = [
            ("", .tls(certificateChain: nil, privateKey: nil), nil),
            ("../up", .tls(certificateChain: nil, privateKey: nil), nil),
            (".hidden", .tls(certificateChain: nil, privateKey: nil), nil),
            (String(repeating: "a", count: 65), .tls(certificateChain: nil, privateKey: nil), nil),
            ("a", .tls(certificateChain: pem.certificate, privateKey: nil), nil),
            ("a", .tls(certificateChain: nil, privateKey: pem.key), nil),
            ("a", .tls(certificateChain: pem.certificate, privateKey: other.key), nil),
            ("a", .tls(certificateChain: pem.key, privateKey: pem.key), nil),
            ("a", .tls(certificateChain: pem.certificate, privateKey: "nonsense"), nil),
            ("a", .tls(certificateChain: nil, privateKey: nil), "nonsense"),
            ("a", .tls(certificateChain: nil, privateKey: nil), ""),
            (
                "a", .tls(certificateChain: nil, privateKey: nil),
                pem.certificate + "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n"
            ),
            ("a", .tls(certificateChain: nil, privateKey: nil), String(repeating: pem.certificate, count: 101)),
            ("a", .s3(.init(accessKeyID: "", secretAccessKey: "s"), region: "r"), nil),
            ("a", .s3(.init(accessKeyID: "A/B", secretAccessKey: "s"), region: "r"), nil),
            ("a", .s3(.init(accessKeyID: "A", secretAccessKey: "a\nb"), region: "r"), nil),
            ("a", .s3(.init(accessKeyID: "A", secretAccessKey: "s"), region: "two words"), nil),
            ("a", .s3(.init(accessKeyID: "A", secretAccessKey: "s", sessionToken: ""), region: "r"), nil),
        ]
        for (name, kind, roots) in refused {
            #expect(throws: UploadEndpointError.self) {
                try endpoints.put(name: name, kind: kind, rootCertificates: roots)
            }
        }
        #expect(endpoints.summaries == [])
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/\(UploadEndpoints.fileName)"))
    }

    @Test func `a certificate shows whom it names and until when`() throws {
        let summary = try #require(PEMMaterial.descriptions(pem.certificate).first)
        #expect(summary.subject == "CN=gatehouse")
        #expect(summary.expiresAt == "2099-12-31T23:59:59.000Z")
        #expect(summary.fingerprint.count == 64)
    }
}

/// Uses some endpoints, and remembers what it was asked.
private final class Users: UploadEndpointUsers {
    private let state: Locked<(used: Set<UInt16>, log: [String])>

    init(used: Set<UInt16>) { state = Locked((used, [])) }

    var used: Set<UInt16> {
        get { state.withLock { $0.used } }
        set { state.withLock { $0.used = newValue } }
    }
    var log: [String] { state.withLock { $0.log } }

    func uses(_ endpoint: UInt16) -> Bool { false }

    func giveUp(_ endpoint: UInt16) -> Bool {
        state.withLock { state in
            state.log.append("\(endpoint) is asked for")
            return !state.used.contains(endpoint)
        }
    }

    func takeBack(_ endpoint: UInt16) { state.withLock { $0.log.append("\(endpoint) is taken back") } }
}

/// A certificate and its key.
private struct TestPEM {
    let certificate: String
    let key: String

    init() {
        let identity = try? DTLSIdentity.generate()
        certificate = identity?.certificatePEM ?? ""
        key = identity?.privateKeyPEM ?? ""
    }
}
