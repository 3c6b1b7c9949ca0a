/// Collects what is taken over from a config, gives each camera a valid key, and remembers what is different.
struct ConfigurationBuilder {
    private(set) var result = ImportedConfiguration()
    private var ids: Set<String> = []
    /// The number that the next key with a beginning gets, so that many names without a usable letter take no time.
    private var numbers: [String: Int] = [:]

    /// Says what is different.
    mutating func remark(_ text: String, at place: ForeignNode) {
        result.remarks.append(.init(line: place.line, key: place.path, text: text))
    }

    /// Says what is different about a setting that the file does not have, with the key of Gatehouse's config.
    mutating func remark(_ text: String, about key: String) {
        result.remarks.append(.init(line: 0, key: key, text: text))
    }

    /// What a remark says about the users of the other gateway.
    static let accountsRemark =
        "names and passwords are not imported. gatehouse token create NAME --scope read view --password makes a person "
        + "who signs in on the page; without --password it makes a token for a program "
        + "(see the document accounts.md)"

    /// What a remark says about a camera that waits for a publisher.
    static let publisherRemark =
        "it waits for a publisher, who sends to rtsp://GATEWAY:8554/ and the camera's key (the section rtsp; with host "
        + "127.0.0.1 only programs of this machine reach it), to rtmp://GATEWAY/live/ and the key (the section rtmp), or by "
        + "WHIP. The publisher needs a token, which gatehouse token create NAME --scope media --device KEY makes (see the "
        + "document whip.md)"

    /// Changes what is outside the cameras.
    mutating func change(_ body: (inout ImportedConfiguration) -> Void) { body(&result) }

    /// Adds a camera under a key that is like its name there.
    mutating func add(
        name: String, at place: ForeignNode, source: String,
        _ configure: (inout ImportedConfiguration.Camera) -> Void = { _ in }
    ) {
        guard source == "publisher" || source.hasPrefix("v4l2:") || Self.isAddress(source, Self.schemes) else {
            return remark(
                "the camera is left out, because its address has no host, a wrong port, or a space", at: place)
        }
        let id = identifier(for: name)
        var camera = ImportedConfiguration.Camera(id: id, name: Self.title(of: name), source: source)
        let words = id.lowercased().filter(\.isLetter)
        camera.isDoorbell = words.contains("doorbell")
        configure(&camera)
        check(&camera, at: place)
        if id != name {
            remark("the camera's key is \(id) now, because a key has only letters, digits, '.', '_' and '-'", at: place)
        }
        if source.hasPrefix("v4l2:") {
            remark(
                "it is a camera of this machine, and the Debian package's service has no access to those: "
                    + "the document stream-cameras.md says how to give it access", at: place)
        }
        if camera.isDoorbell {
            remark(
                "its name says that it is a doorbell; without onvif or webhook its button is not reported", at: place)
        }
        result.cameras.append(camera)
    }

    /// The config, with its remarks in the order of the file and each only once.
    func finished() -> ImportedConfiguration {
        var finished = result
        Self.check(&finished)
        Self.remarkOnUse(of: &finished)
        var seen = Set<ImportedConfiguration.Remark>()
        finished.remarks = finished.remarks.enumerated()
            .sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
            .map(\.element).filter { seen.insert($0).inserted }
        return finished
    }

    /// Says what the owner has to do before other devices see the cameras.
    private static func remarkOnUse(of finished: inout ImportedConfiguration) {
        guard !finished.cameras.isEmpty else { return }
        if !finished.isOpen {
            finished.remarks.append(
                .init(
                    line: 0, key: "http",
                    text: "the page and the API are for this machine only: port 8080, and 8443 over HTTPS. "
                        + "gatehouse import --open, or http.https.host: 0.0.0.0, offers HTTPS to the network"))
        }
        let variables = finished.variables
        guard !variables.isEmpty else { return }
        finished.remarks.append(
            .init(
                line: 0, key: "",
                text: "the gateway needs these variables in its environment: \(variables.joined(separator: ", ")). "
                    + "The Debian package's service reads them from /etc/gatehouse/environment, a line NAME=value for each"
            ))
    }

    /// A key that no other camera has: up to 64 letters, digits, '.', '_' and '-', a letter or digit first.
    private mutating func identifier(for name: String) -> String {
        func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
        }
        let replaced = name.unicodeScalars.map { scalar -> Unicode.Scalar in
            isLetterOrDigit(scalar) || "._-".unicodeScalars.contains(scalar) ? scalar : "-"
        }
        let start = replaced.drop { !isLetterOrDigit($0) }.prefix(56)
        let stem = start.isEmpty ? "camera" : String(String.UnicodeScalarView(start))
        var id = stem
        while !ids.insert(id).inserted {
            let number = numbers[stem, default: 2]
            numbers[stem] = number + 1
            id = "\(stem)-\(number)"
        }
        return id
    }

    /// A name for people: words instead of a key.
    private static func title(of name: String) -> String {
        let words = visible(name).split { "_-/ ".contains($0) }.joined(separator: " ")
        let title = words.isEmpty ? "Camera" : words.prefix(1).uppercased() + words.dropFirst()
        return String(title.prefix(60))
    }
}
