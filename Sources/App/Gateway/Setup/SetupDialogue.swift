import Foundation

/// The four questions of `gatehouse setup`. Questions that the command line has answered are left out.
public struct SetupDialogue {
    /// Why there is no config in the end.
    public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// The input ended before the last question.
        case ended
        /// None of several answers to a question could be used.
        case notUnderstood(String)

        public var description: String {
            switch self {
            case .ended: "the input ended before the last question, so nothing was written"
            case .notUnderstood(let reason): "\(reason); nothing was written"
            }
        }
    }

    /// A camera that was found on the network.
    public struct FoundCamera: Sendable, Equatable {
        /// Its address.
        public var host: String
        /// What it reports about itself; a text from the network.
        public var words: String

        /// Describes a camera.
        public init(host: String, words: String) {
            self.host = host
            self.words = words
        }
    }

    /// The person and the network.
    public struct Console {
        /// Prints a line.
        var say: (String) -> Void
        /// Asks for a line; nil when the input has ended.
        public var ask: (String) -> String?
        /// Asks for a line that the terminal does not show; nil when the input has ended.
        var askSecretly: (String) -> String?
        /// Looks for cameras, which takes some seconds; nil if the person does not want that.
        var search: (() -> [FoundCamera])?
        /// Connects to a camera for some seconds, by its source as the config writes it. Returns why it sends nothing, or nil
        /// if it sends something or cannot be tried here. Nil if the person does not want that.
        var probe: ((String) -> String?)?

        /// Puts a console together.
        public init(
            say: @escaping (String) -> Void, ask: @escaping (String) -> String?,
            askSecretly: @escaping (String) -> String?, search: (() -> [FoundCamera])?,
            probe: ((String) -> String?)? = nil
        ) {
            self.say = say
            self.ask = ask
            self.askSecretly = askSecretly
            self.search = search
            self.probe = probe
        }
    }

    /// The answers that the command line gave; nil for each question that has to be asked.
    public struct Given: Sendable, Equatable {
        public var camera: SetupAnswers.Camera?
        public var name: String?
        public var isDoorbell: Bool?
        public var isOpen: Bool?
        public var recordings: SetupAnswers.Recordings?
        public var stunServer: String?

        /// No answers.
        public init() {}

        /// The answers without asking: what is missing is as in ``SetupAnswers/init()``.
        public var answers: SetupAnswers {
            var answers = SetupAnswers()
            if let camera { answers.camera = camera }
            if let name { answers.name = name }
            answers.isDoorbell = isDoorbell
            if let isOpen { answers.isOpen = isOpen }
            if let recordings { answers.recordings = recordings }
            answers.stunServer = stunServer
            return answers
        }
    }

    private static let attempts = 5

    private let console: Console

    /// A dialogue with a person.
    public init(console: Console) {
        self.console = console
    }

    /// Asks what the command line has not answered.
    public func answers(_ given: Given) throws(Failure) -> SetupAnswers {
        var answers = given.answers
        if given.camera == nil {
            let chosen = try camera()
            answers.camera = chosen.camera
            // What the camera reports about itself matters as much as its name.
            if given.isDoorbell == nil, SetupAnswers.isDoorbell(chosen.words) { answers.isDoorbell = true }
        }
        if given.name == nil { answers.name = try name() }
        if given.isOpen == nil { answers.isOpen = try isOpen() }
        if given.recordings == nil { answers.recordings = try recordings() }
        return answers
    }

    /// The first camera, with what it reports about itself.
    private func camera() throws(Failure) -> (camera: SetupAnswers.Camera, words: String) {
        let found = console.search.map { listed($0) } ?? []
        for _ in 0..<Self.attempts {
            guard let chosen = try choice(among: found) else { return (.builtIn, "") }
            let source = try signedIn(chosen.address).source
            if try isWanted(source) { return (.source(source), chosen.words) }
        }
        throw .notUnderstood("no camera was chosen")
    }

    /// Asks for a camera; nil for the built-in one.
    private func choice(
        among found: [FoundCamera]
    ) throws(Failure) -> (address: SetupCameraAddress, words: String)? {
        let question = found.isEmpty ? "its address" : "a number, or an address"
        return try asking("1/4  Which camera first? (\(question); Enter for a built-in test camera) ") {
            (text: String) throws(SetupMisunderstanding) -> (address: SetupCameraAddress, words: String)? in
            if text.isEmpty { return nil }
            guard let number = Int(text) else {
                let typed = try SetupCameraAddress(text)
                return (address: typed, words: "")
            }
            guard found.indices.contains(number - 1) else {
                throw SetupMisunderstanding(description: "the list has no camera \(number)")
            }
            let listed = try SetupCameraAddress(found[number - 1].host)
            return (address: listed, words: found[number - 1].words)
        }
    }

    /// Tries a camera. If it sends nothing, the person decides.
    private func isWanted(_ source: String) throws(Failure) -> Bool {
        guard let probe = console.probe else { return true }
        console.say("     Connecting to it …")
        guard let reason = probe(source) else { return true }
        console.say("     It does not work yet: \(reason)")
        return try agrees("     Use it anyway? [y/N] ", standard: false)
    }

    /// Looks for cameras, and lists those that answer.
    private func listed(_ search: () -> [FoundCamera]) -> [FoundCamera] {
        console.say("Looking for cameras on the network …")
        let found = search()
        for (number, camera) in found.enumerated() { console.say("  \(number + 1)  \(camera.host)  \(camera.words)") }
        console.say(
            found.isEmpty
                ? "No camera answered. Cameras with ONVIF switched off never do, but you can enter their address."
                : "Cameras with ONVIF switched off are not in the list, but you can enter their address.")
        return found
    }

    private func signedIn(_ address: SetupCameraAddress) throws(Failure) -> SetupCameraAddress {
        if address.hasUser { return address }
        let user = try line("     Its user name? (Enter if it needs none) ")
        if user.isEmpty { return address }
        guard let password = console.askSecretly("     Its password? (it is not shown) ") else { throw .ended }
        return address.signingIn(user: user, password: password)
    }

    private func name() throws(Failure) -> String {
        let text = try line("2/4  What is the camera called? [\(SetupAnswers.standardName)] ")
        return text.isEmpty ? SetupAnswers.standardName : text
    }

    private func isOpen() throws(Failure) -> Bool {
        try agrees(
            "3/4  May phones and computers on your network open the page? They need the token. [Y/n] ", standard: true)
    }

    /// Asks a question with yes and no as its answers; Enter is the standard one.
    private func agrees(_ question: String, standard: Bool) throws(Failure) -> Bool {
        try asking(question) { (text: String) throws(SetupMisunderstanding) -> Bool in
            switch text.lowercased() {
            case "": return standard
            case "y", "yes": return true
            case "n", "no": return false
            default: throw SetupMisunderstanding(description: "expected y or n")
            }
        }
    }

    private func recordings() throws(Failure) -> SetupAnswers.Recordings {
        let question = "4/4  Where do recordings of motion go? (a folder, or s for the state folder; Enter for none) "
        return try asking(question) { (text: String) throws(SetupMisunderstanding) -> SetupAnswers.Recordings in
            switch text {
            case "": return .none
            case "s", "S": return .standard
            case _ where text.hasPrefix("/"): return .folder(text)
            default: throw SetupMisunderstanding(description: "expected a full path such as /srv/recordings")
            }
        }
    }

    private func asking<Answer>(
        _ question: String, _ read: (String) throws(SetupMisunderstanding) -> Answer
    ) throws(Failure) -> Answer {
        var reason = ""
        for _ in 0..<Self.attempts {
            let text = try line(question)
            do throws(SetupMisunderstanding) {
                return try read(text)
            } catch {
                reason = error.description
                console.say("     \(reason)")
            }
        }
        throw .notUnderstood(reason)
    }

    private func line(_ question: String) throws(Failure) -> String {
        guard let text = console.ask(question) else { throw .ended }
        return text.trimmingCharacters(in: .whitespaces)
    }
}
