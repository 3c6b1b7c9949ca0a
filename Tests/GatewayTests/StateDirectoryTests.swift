import Foundation
import HTTPTypes
import HomeTypes
import Testing

@testable import Gateway

/// What somebody else may have put into the state folder.
@Suite struct StateDirectoryTests {
    let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        try self.folder.directory.create()
    }

    private var directory: StateDirectory { folder.directory }

    private func reason(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StateDirectory.Failure)?.reason ?? "\(error)"
        }
    }

    @Test(arguments: ["token", "webhook-tokens", "cameras.yaml", "https-key.pem"])
    func aSpecialFileBlocksNobody(name: String) throws {
        let path = directory.file(name)
        func attempt() -> [String?] {
            [
                self.reason { _ = try directory.readPrivate(name) },
                self.reason { try directory.writePrivate(name, "x") },
            ]
        }
        #expect(mkfifo(path, 0o600) == 0)
        // A FIFO without a writer, and with one.
        for reason in attempt() { #expect(reason?.contains("not a regular file") == true) }
        let writer = open(path, O_RDWR | O_NONBLOCK)
        #expect(attempt().allSatisfy { $0?.contains("not a regular file") == true })
        close(writer)
        unlink(path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(attempt().allSatisfy { $0 != nil })
        rmdir(path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
        #expect(attempt().allSatisfy { $0 != nil })
        #expect(attempt()[0]?.contains("symbolic link") == true)
        unlink(path)
        try directory.writePrivate(name, "fine")
        #expect(try directory.readPrivate(name) == "fine")
    }

    @Test func aDeviceIsNotRead() throws {
        // Making one needs root's rights.
        guard geteuid() == 0, mknod(directory.file("token"), S_IFCHR | 0o600, dev_t(0x105)) == 0 else { return }
        #expect(reason { _ = try directory.readPrivate("token") }?.contains("not a regular file") == true)
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o602, 0o666] as [mode_t])
    func whatOthersMayReadOrWriteIsRefused(mode: mode_t) throws {
        try directory.writePrivate("token", "secret")
        chmod(directory.file("token"), mode)
        #expect(reason { _ = try directory.readPrivate("token") }?.contains("chmod 600") == true)
    }

    @Test func whatBelongsToAnotherUserIsRefused() throws {
        guard geteuid() == 0 else { return }
        try directory.writePrivate("token", "secret")
        chown(directory.file("token"), 12_345, 12_345)
        let reason = self.reason { _ = try directory.readPrivate("token") }
        #expect(reason?.contains("12345") == true && reason?.contains("chown") == true)
        // Root reads what belongs to the user whose folder it is: the command that shows the token.
        chown(directory.path, 12_345, 12_345)
        #expect(try directory.readPrivate("token") == "secret")
        // It runs no gateway there.
        let lock = self.reason { _ = try StateDirectoryLock(directory) }
        #expect(lock?.contains("12345") == true)
    }

    @Test func aFolderThatOthersMayWriteToIsRefused() throws {
        for mode in [0o770, 0o707, 0o777] as [mode_t] {
            chmod(directory.path, mode)
            #expect(reason { _ = try StateDirectoryLock(directory) }?.contains("chmod go-w") == true)
        }
        chmod(directory.path, 0o755)
        #expect(reason { _ = try StateDirectoryLock(directory) } == nil)
    }

    @Test func oneGatewayHasTheFolderUntilItIsGone() throws {
        var lock: StateDirectoryLock? = try StateDirectoryLock(directory)
        let reason = self.reason { _ = try StateDirectoryLock(directory) }
        #expect(reason?.contains("process \(getpid()),") == true, "\(reason ?? "")")
        #expect(lock != nil)
        lock = nil
        // The file is still there, and says nothing.
        #expect(FileManager.default.fileExists(atPath: directory.file(StateDirectoryLock.fileName)))
        _ = try StateDirectoryLock(directory)
    }

    @Test func theLockIsNotWhatSomebodyPutInItsPlace() throws {
        let path = directory.file(StateDirectoryLock.fileName)
        #expect(mkfifo(path, 0o600) == 0)
        #expect(reason { _ = try StateDirectoryLock(directory) }?.contains("not a regular file") == true)
        unlink(path)
        let target = folder.path + "/victim"
        try Data("precious".utf8).write(to: URL(fileURLWithPath: target))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        #expect(reason { _ = try StateDirectoryLock(directory) } != nil)
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
    }

    @Test(arguments: ["", "\n", "# nothing but a remark\n", "   \n\n"]) func anEmptyTokenFileIsNotReplaced(text: String)
        throws
    {
        try directory.writePrivate("token", text)
        let reason = self.reason { _ = try TokenStore(openingOrCreatingIn: directory) }
        #expect(reason?.contains("contains no token") == true && reason?.contains("remove the file") == true)
        #expect(try directory.readPrivate("token") == text)
    }

    @Test(arguments: [
        "", "\n\n", "garbage\n", "LINE door\nhalf", "LINE\n", "LINE door extra\n", "LINE ../door\n", "\u{0}\u{0}",
    ])
    func garbledWebhookTokensAreNotReplaced(text: String) throws {
        let line = WebhookTokens.prefix + String(repeating: "a", count: 43)
        let content = text.replacingOccurrences(of: "LINE", with: line)
        try directory.writePrivate(WebhookTokens.fileName, content)
        for devices in [[], ["yard"]] {
            let reason = self.reason {
                _ = try WebhookTokens(openingOrCreatingIn: directory, devices: devices)
            }
            #expect(reason?.contains("to make new tokens") == true, "\(reason ?? "nothing")")
            // Messages end in logs: they name the line and no secret.
            #expect(reason?.contains(line) == false)
        }
        #expect(try directory.readPrivate(WebhookTokens.fileName) == content)
    }

    @Test(arguments: ["guest\u{202E}renwo", "a\u{7}b", "x\u{1B}[31m", "\u{9B}0m", "l\u{200F}r"])
    func aPrincipalsNameIsReadable(name: String) throws {
        try directory.writePrivate("token", "gatehouse_\(String(repeating: "a", count: 40)) \(name)\n")
        let reason = self.reason { _ = try TokenStore(openingOrCreatingIn: directory) }
        #expect(reason?.contains("line 1: the name contains") == true && reason?.contains(name) == false)
    }

    static let forbidden: [(name: String, what: String)] = [
        ("Front\u{1B}[2Jdoor", "U+001B"), ("a\nb", "U+000A"), ("a\tb", "U+0009"), ("\u{7F}", "U+007F"),
        ("\u{9B}31m", "U+009B"), ("Front\u{202E}rood", "U+202E"), ("a\u{2066}b\u{2069}", "U+2066"),
        ("\u{200E}", "U+200E"), ("\u{61C}", "U+061C"), ("a\u{2028}b", "U+2028"), ("a\u{2029}b", "U+2029"),
    ]

    @Test(arguments: Self.forbidden) func namesOfCamerasAreReadable(name: String, what: String) async throws {
        // Escaped for JSON and for YAML, neither of which accepts all of them unescaped.
        let text =
            "\""
            + name.unicodeScalars.map { scalar in
                (0x20...0x7E).contains(scalar.value) ? String(scalar) : String(format: "\\u%04X", scalar.value)
            }.joined() + "\""
        let error = #expect(throws: ConfigurationError.self) {
            try GatewayConfiguration(yaml: "cameras:\n  - {id: door, source: whip, name: \(text)}\n")
        }
        #expect(error?.problems.map(\.key) == ["cameras[0].name"])
        #expect(error?.problems.first?.reason.contains(what) == true)
        let gateway = try TestGateway()
        await gateway.keeper.begin()
        try await gateway.run { client in
            let put = try await client.send(
                .put, "/v1/cameras/gate", "{\"source\":\"whip\",\"name\":\(text)}", type: "application/json")
            #expect(put.status == .badRequest)
            #expect(put.failure?.message.hasPrefix("name: contains") == true, "\(put.text)")
            #expect(put.failure?.message.contains(what) == true)
        }
    }

    @Test(arguments: ["Haustür", "玄関", "דלת", "باب", "👩‍👩‍👧 nursery", "it's \"the\" door", "क्‍ष"])
    func ordinaryNamesOfAllScriptsAreAccepted(name: String) throws {
        let text = String(decoding: try JSONEncoder().encode(name), as: UTF8.self)
        let configuration = try GatewayConfiguration(yaml: "cameras:\n  - {id: door, source: whip, name: \(text)}\n")
        #expect(configuration.cameras.first?.name == name)
    }
}
