import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOSSL
import Testing

@testable import Gateway

@Suite struct SecretsTests {
    @Test func theTokenIsMadeOnceIntoAPrivateFile() throws {
        let folder = try TemporaryFolder()
        let first = try TokenStore(openingOrCreatingIn: folder.directory)
        let second = try TokenStore(openingOrCreatingIn: folder.directory)
        let token = try #require(first.token(of: "owner"))
        #expect(second.token(of: "owner") == token)
        #expect(token.hasPrefix("gatehouse_"))
        #expect(token.utf8.count >= 50)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.directory.file("token"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let parent = try FileManager.default.attributesOfItem(atPath: folder.directory.path)
        #expect(parent[.posixPermissions] as? Int == 0o700)
    }

    @Test func twoGatewaysHaveDifferentTokens() throws {
        #expect(TokenStore.makeToken() != nil)
        #expect(TokenStore.makeToken() != TokenStore.makeToken())
    }

    @Test func aTokenFileThatOthersCanReadIsRefused() throws {
        let folder = try TemporaryFolder()
        _ = try TokenStore(openingOrCreatingIn: folder.directory)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o640], ofItemAtPath: folder.directory.file("token"))
        let error = #expect(throws: StateDirectory.Failure.self) {
            try TokenStore(openingOrCreatingIn: folder.directory)
        }
        #expect(error?.reason.contains("chmod 600") == true)
    }

    @Test func tokensNameTheirPrincipals() throws {
        let folder = try TemporaryFolder()
        let owner = "gatehouse_" + String(repeating: "a", count: 40)
        let guest = "gatehouse_" + String(repeating: "b", count: 40)
        try folder.directory.writePrivate("token", "# made by hand\n\(owner)\n\(guest) guest\n")
        let store = try TokenStore(openingOrCreatingIn: folder.directory)
        #expect(store.principal(holding: owner) == "owner")
        #expect(store.principal(holding: guest) == "guest")
        for wrong in ["", "owner", String(owner.dropLast()), owner + "a", guest.uppercased(), "guest", "é"] {
            #expect(store.principal(holding: wrong) == nil)
        }
        try folder.directory.writePrivate("token", "short guest\n")
        #expect(throws: StateDirectory.Failure.self) { try TokenStore(openingOrCreatingIn: folder.directory) }
    }

    @Test func whatIsTooLargeToBeReadIsNotWritten() throws {
        let folder = try TemporaryFolder()
        let largest = String(repeating: "x", count: StateDirectory.maximumFileSize)
        try folder.directory.writePrivate("file", largest)
        #expect(try folder.directory.readPrivate("file") == largest)
        let error = #expect(throws: StateDirectory.Failure.self) {
            try folder.directory.writePrivate("file", largest + "x")
        }
        #expect(error?.isTooLarge == true)
        #expect(try folder.directory.readPrivate("file") == largest)
    }

    @Test func webhookTokensOfCamerasThatAreGoneDoNotPileUp() throws {
        let folder = try TemporaryFolder()
        let many = (0..<WebhookTokens.maximumCount).map { "camera-\($0)" }
        let tokens = try WebhookTokens(openingOrCreatingIn: folder.directory, devices: many)
        let kept = try WebhookTokens.token(of: "camera-1", in: folder.directory)
        try tokens.use(["camera-0", "new"], in: folder.directory)
        // The oldest one whose webhook is off is forgotten, and nothing else.
        #expect(tokens.secrets.count == WebhookTokens.maximumCount)
        #expect(try WebhookTokens.token(of: "camera-0", in: folder.directory) != nil)
        #expect(try WebhookTokens.token(of: "camera-1", in: folder.directory) == nil)
        #expect(try WebhookTokens.token(of: "camera-2", in: folder.directory) != nil)
        #expect(tokens.device(holding: try #require(kept)) == nil)
        // Those in use all stay.
        try tokens.use(many + ["new", "newer"], in: folder.directory)
        #expect(tokens.secrets.count == WebhookTokens.maximumCount + 2)
    }

    @Test func commandsFindTheGatewayWithoutOptions() throws {
        let folder = try TemporaryFolder()
        let environment = ["XDG_STATE_HOME": folder.path]
        #expect(throws: StateDirectory.Failure.self) { try LocalGateway.find(environment: environment) }

        let elsewhere = StateDirectory(path: folder.path + "/elsewhere")
        let token = try TokenStore(openingOrCreatingIn: elsewhere).token(of: "owner")
        let note = LocalGateway(
            url: "http://127.0.0.1:9999", httpsPort: nil, stateDirectory: elsewhere.path,
            processID: LocalGateway.ownProcessID)
        let standard = StateDirectory.standard(environment: environment)
        try note.write(to: [standard])
        let found = try LocalGateway.find(environment: environment)
        #expect(found.gateway == note)
        #expect(found.token == token)
        let told = try LocalGateway.find(
            environment: environment.merging(["GATEHOUSE_URL": "https://x", "GATEHOUSE_TOKEN": "t"]) { $1 })
        #expect(told.gateway.url == "https://x")
        #expect(told.token == "t")
        note.remove(from: [standard])
        #expect(throws: StateDirectory.Failure.self) { try LocalGateway.find(environment: environment) }
    }

    @Test func aSecondGatewayLeavesTheCommandsToTheFirstWhileThatRuns() throws {
        let folder = try TemporaryFolder()
        let standard = StateDirectory.standard(environment: ["XDG_STATE_HOME": folder.path])
        func gateway(_ name: String, _ process: Int32) -> LocalGateway {
            LocalGateway(
                url: "http://127.0.0.1:9999", httpsPort: nil, stateDirectory: folder.path + "/" + name,
                processID: process)
        }
        let (first, second) = (gateway("first", 11), gateway("second", 12))
        #expect(!first.isTaken(in: standard))
        try first.write(to: [standard])
        do {
            let lock = try StateDirectoryLock(StateDirectory(path: first.stateDirectory))
            #expect(second.isTaken(in: standard))
            // A restart of the first one is not another gateway.
            #expect(!gateway("first", 13).isTaken(in: standard))
            withExtendedLifetime(lock) {}
        }
        // It has ended without removing the file.
        #expect(!second.isTaken(in: standard))
    }

    @Test func theCertificateIsKeptAndHoldsItsNames() throws {
        let folder = try TemporaryFolder()
        let names = ["localhost", "127.0.0.1", "::1", "192.0.2.7"]
        let first = try ServerCertificate.openOrCreate(in: folder.directory, names: names)
        let second = try ServerCertificate.openOrCreate(in: folder.directory, names: names)
        #expect(first == second)
        let attributes = try FileManager.default.attributesOfItem(
            atPath: folder.directory.file(ServerCertificate.keyFile))
        #expect(attributes[.posixPermissions] as? Int == 0o600)

        let certificate = try #require(try NIOSSLCertificate.fromPEMBytes(Array(first.certificate.utf8)).first)
        _ = try NIOSSLPrivateKey(bytes: Array(first.privateKey.utf8), format: .pem)
        let alternatives = certificate._subjectAlternativeNames()
        #expect(alternatives.count == 4)
        #expect(ServerCertificate.hostNames().starts(with: ["localhost", "127.0.0.1", "::1"]))
    }

    @Test func certificatesThatExpireSoonOrDoNotMatchAreReplaced() throws {
        let folder = try TemporaryFolder()
        let old = try ServerCertificate.selfSigned(names: ["localhost"], validityDays: 10)
        #expect(!ServerCertificate.isUsable(certificate: old.certificate, privateKey: old.privateKey))
        try folder.directory.writePrivate(ServerCertificate.certificateFile, old.certificate)
        try folder.directory.writePrivate(ServerCertificate.keyFile, old.privateKey)
        let made = try ServerCertificate.openOrCreate(in: folder.directory, names: ["localhost"])
        #expect(made != old)
        #expect(!ServerCertificate.isUsable(certificate: made.certificate, privateKey: old.privateKey))
        #expect(!ServerCertificate.isUsable(certificate: "garbage", privateKey: ""))
    }

    @Test(arguments: [
        ("token gatehouse_abcdef-_0123 end", "token [secret] end"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer [secret]"),
        ("rtsp://admin:p@ss@192.168.1.20:554/a?x=1", "rtsp://[secret]@[address]:554/a?x=1"),
        ("rtsp://admin:p/ss@192.168.1.20/a", "rtsp://[secret]@[address]/a"),
        ("onvif://admin:p?s#s@192.168.1.20:8080", "onvif://[secret]@[address]:8080"),
        ("rtsp://192.168.1.20:554/a@b", "rtsp://[address]:554/a@b"),
        ("rtsp://admin:12/34@192.168.1.20/a", "rtsp://[secret]@[address]/a"),
        ("http://admin:1234?a@192.168.1.20/a", "http://[secret]@[address]/a"),
        ("from 203.0.113.9:5000, to 10.0.0.1.", "from [address]:5000, to [address]."),
        ("[2001:db8::1]:443 and fe80::1%eth0", "[[address]]:443 and [address]"),
        ("a=ice-pwd:abcdefghijklmnop", "a=ice-pwd:[secret]"),
        ("listening on 127.0.0.1:8080, [::1], 0.0.0.0", "listening on 127.0.0.1:8080, [::1], 0.0.0.0"),
        ("version 1.2.3, 12:30:15, a:b", "version 1.2.3, 12:30:15, a:b"),
        ("the password hunter22 stands here", "the password [secret] stands here"),
        ("http://10.1.2.3/x", "http://[address]/x"),
        (
            "DELETE /whep/door/00112233445566778899aabbccddeeff, 00112233…",
            "DELETE /whep/door/[secret], 00112233…"
        ),
        (
            "GET /whep/door/156c7a92aa520435e0100112233445566778899aabbccddeeff, 56c7a92aa520435e",
            "GET /whep/door/[secret], 56c7a92aa520435e"
        ),
        ("", ""),
    ])
    func secretsAndAddressesAreMasked(text: String, expected: String) {
        #expect(Redactor(secrets: ["hunter22", "short"]).redact(text) == expected)
    }

    @Test func addressesStayWhenTheConfigSaysSo() {
        #expect(Redactor(secrets: [], showsAddresses: true).redact("10.0.0.1 Bearer x") == "10.0.0.1 Bearer [secret]")
    }

    @Test func logLinesAreRedactedAndCannotBeForged() throws {
        let lines = NIOLockedValueBox<[String]>([])
        func logger(_ format: GatewayConfiguration.Log.Format) -> Logger {
            Logger(label: "t") {
                GatewayLogHandler(label: $0, format: format, redactor: Redactor(secrets: ["topsecret"])) { line in
                    lines.withLockedValue { $0.append(line) }
                }
            }
        }
        logger(.text).info("x\nlevel=error topsecret", metadata: ["key": "a b\n10.0.0.1"])
        logger(.json).info("x\n\"topsecret\"", metadata: ["key": "\u{1}"])
        let written = lines.withLockedValue { $0 }
        #expect(written.count == 2)
        #expect(written.allSatisfy { $0.split(separator: "\n").count == 1 && !$0.contains("topsecret") })
        #expect(written[0].contains(#"key="a b\n[address]""#))
        let object = try JSONSerialization.jsonObject(with: Data(written[1].utf8)) as? [String: String]
        #expect(object?["message"] == "x\n\"[secret]\"")
        #expect(object?["key"] == "\u{1}")
    }

    @Test func `a JSON line says which gateway wrote it, and in which of its runs`() throws {
        let lines = NIOLockedValueBox<[String]>([])
        let identity = GatewayIdentity()
        let logger = Logger(label: "t") {
            GatewayLogHandler(label: $0, format: .json, redactor: Redactor(secrets: []), identity: identity) { line in
                lines.withLockedValue { $0.append(line) }
            }
        }
        logger.info("before")
        identity.use(.init(gateway: "56c7a92aa520435e", incarnation: 7))
        logger.info("after")
        logger.info("names it itself", metadata: ["gateway": "other"])
        let objects = try lines.withLockedValue { $0 }.map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String])
        }
        #expect(objects.map { $0["gateway"] } == [nil, "56c7a92aa520435e", "other"])
        #expect(objects.map { $0["incarnation"] } == [nil, "7", "7"])
    }

    @Test(arguments: [
        ("http://127.0.0.1:8080", "127.0.0.1:8080", true), ("http://localhost", "localhost:80", true),
        ("HTTP://LocalHost:8080", "localhost:8080", true), ("http://[::1]:8080", "[::1]:8080", true),
        ("https://127.0.0.1:8080", "127.0.0.1:8080", false), ("http://evil.example", "127.0.0.1:8080", false),
        ("null", "127.0.0.1:8080", false), ("", "127.0.0.1:8080", false),
        ("http://127.0.0.1:8080/", "127.0.0.1:8080", false), ("http://127.0.0.1:8080@evil", "127.0.0.1:8080", false),
        ("http://127.0.0.1:08080x", "127.0.0.1:8080", false), ("ftp://127.0.0.1:8080", "127.0.0.1:8080", false),
    ])
    func onlyTheOwnOriginIsTheSame(origin: String, host: String, isSame: Bool) {
        let verdict = OriginPolicy(origins: []).verdict(origin: origin, scheme: "http", host: host)
        #expect(verdict == (isSame ? .sameOrigin : .refused))
    }

    @Test func metricsAreEscaped() {
        let text = PrometheusText.encode([
            MetricFamily(
                name: "m", help: "a\\b\nc", kind: .gauge,
                samples: [.init(1.5, labels: [("l", "q\"\\\n")]), .init(3), .init(.nan)])
        ])
        #expect(text == "# HELP m a\\\\b\\nc\n# TYPE m gauge\nm{l=\"q\\\"\\\\\\n\"} 1.5\nm 3\nm NaN\n")
    }
}
