import Foundation
import Testing

@testable import Gateway

/// What `gatehouse serve --check` finds.
@Suite struct ConfigurationCheckTests {
    private let folder: TemporaryFolder
    private var file: String { folder.path + "/gatehouse.yaml" }

    init() throws {
        folder = try TemporaryFolder()
        try folder.directory.writePrivate(CameraStore.fileName, "cameras:\n  - {id: yard, source: nonsense}\n")
    }

    /// - Parameter standard: the state folder of a config that names none.
    private func check(_ config: String, standard: String = "/dev/null") throws -> ConfigurationCheck {
        try Data(config.utf8).write(to: URL(fileURLWithPath: file))
        return ConfigurationCheck(file: file, environment: ["STATE_DIRECTORY": standard])
    }

    @Test func `problems of the config do not hide those of the cameras`() throws {
        let found = try check("stateDirectory: state\nlog: {level: loud}\nhttp: {port: 0}\n")
        #expect(found.problems.map(\.file) == [file, folder.directory.file(CameraStore.fileName)])
        #expect(found.problems.map { $0.problems.map(\.key) } == [["log.level", "http.port"], ["cameras[0].source"]])
        #expect(found.remarks.isEmpty)
    }

    @Test func `a config that names no state folder has the standard one`() throws {
        let found = try check("log: {level: loud}\n", standard: folder.directory.path)
        #expect(found.problems.map { $0.problems.map(\.key) } == [["log.level"], ["cameras[0].source"]])
    }

    @Test(arguments: ["stateDirectory: [state]\n", "stateDirectory: state\nlog: {", "[]"])
    func `no cameras are checked where nobody can say which folder is meant`(config: String) throws {
        let found = try check(config, standard: folder.directory.path)
        #expect(found.problems.map(\.file) == [file])
    }

    @Test func `a file without problems is said to be valid`() throws {
        let valid = try check("stateDirectory: state\ncameras: [{id: door, source: whip}]\n")
        #expect(valid.remarks == ["\(file) is valid: 1 camera"])
        #expect(valid.problems.map(\.file) == [folder.directory.file(CameraStore.fileName)])
        try folder.directory.writePrivate(CameraStore.fileName, "cameras: []\n")
        let both = try check("stateDirectory: state\n")
        #expect(both.problems.isEmpty)
        let cameras = folder.directory.file(CameraStore.fileName)
        #expect(
            both.remarks == [
                "\(file) is valid: 0 cameras", "\(cameras) is valid: 0 cameras added or changed over the API",
            ])
    }
    @Test func `rules for the recordings of a camera that is in neither file are reported`() throws {
        try folder.directory.writePrivate(CameraStore.fileName, "cameras:\n  - {id: yard, source: whip}\n")
        let found = try check(
            """
            stateDirectory: state
            cameras: [{id: door, source: whip}]
            recording: {cameras: [{id: yrad, days: 1}, {id: yard, days: 1}, {id: door, days: 1}]}

            """)
        #expect(found.problems.isEmpty)
        #expect(
            found.remarks.dropFirst(2) == ["\(file): recording.cameras has rules for yrad, but no camera has this id"])
    }
}
