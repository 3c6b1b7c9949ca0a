import Logging
import MQTTDevices

/// The numbers of the parts of devices on the broker, which are kept so that a part is the same endpoint in each run.
struct PartNumbers: Sendable {
    /// Where they are kept in the state folder.
    static let fileName = "mqtt-parts.json"

    private let directory: StateDirectory?
    private let logger: Logger
    /// The numbers, and which devices are gone.
    private(set) var numbers = MQTTPartNumbers()
    /// Whether the file could not be read and holds the numbers that count.
    private var isFileInTheWay = false
    /// Whether the file was damaged and has another name now, so that none holds the numbers.
    private var isFileLost = false

    /// Makes a list without numbers.
    /// - Parameter directory: the state folder; nil to forget the numbers.
    init(in directory: StateDirectory?, logger: Logger) {
        self.directory = directory
        self.logger = logger
    }

    /// Reads what is kept. Without a file that can be used, the numbers stay as they are.
    mutating func read() {
        guard let file = directory?.readJSON(MQTTPartNumbers.self, from: Self.fileName) else { return }
        isFileInTheWay = file.isInTheWay
        isFileLost = file.failure != nil && !file.isInTheWay
        if let kept = file.value { numbers = kept }
        guard let failure = file.failure else { return }
        logger.warning(
            "the parts of MQTT devices may get other numbers than before, because the file cannot be used",
            metadata: ["reason": "\(failure)"])
    }

    /// Keeps new numbers. A file that could not be read is not overwritten.
    mutating func keep(_ new: MQTTPartNumbers) {
        guard new != numbers || isFileLost else { return }
        numbers = new
        guard let directory, !isFileInTheWay else { return }
        do {
            try directory.writeJSON(new, to: Self.fileName)
            isFileLost = false
        } catch {
            logger.warning(
                "the numbers of the parts of MQTT devices cannot be kept", metadata: ["reason": "\(error)"])
        }
    }
}
