import PushAvStreamTransport

/// The files of recordings and uploads, as a power cut may leave them, and what the owner says about receivers.
extension FuzzTarget {
    static let recordingFiles = FuzzTarget(
        "recording-files", "a recording's session.json, journal and segments after a power cut", maximumLength: 4096,
        dictionary: recordingWords,
        seeds: {
            [[0] + StoredTexts.sessionFile, [1] + StoredTexts.journalLines.flatMap { $0 + [0x0A] }]
                + mp4Seeds.map { [2] + $0.dropFirst(2 + Int($0[0]) << 8 + Int($0[1])) }
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let kind = input.byte() % 3
        let file = Array(input.rest())
        let problem =
            switch kind {
            case 0: StoredTexts.problem(sessionFile: file)
            case 1: StoredTexts.problem(journal: file)
            default: StoredTexts.problem(segment: file)
            }
        try keep(problem)
    }

    static let uploads = FuzzTarget(
        "uploads", "the queue of uploads after a power cut, and what it sends then", maximumLength: 4096,
        dictionary: recordingWords,
        seeds: {
            let records = StoredTexts.uploadRecords
            return [records.flatMap { $0 + [0x0A] }, records.dropLast(3).flatMap { $0 + [0x0A] }]
        }
    ) { bytes throws(FuzzFailure) in
        try keep(StoredTexts.problem(uploads: Array(bytes)))
    }

    static let uploadEndpoint = FuzzTarget(
        "upload-endpoint", "certificates, a key and the address of a receiver, as the owner gives them",
        maximumLength: 4096,
        dictionary: [
            "-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----\n", "-----BEGIN PRIVATE KEY-----\n",
            "-----END PRIVATE KEY-----\n", "Proc-Type: 4,ENCRYPTED\n", "https://", "[::1]", "%2e%2e", "/../", ":443/",
        ],
        seeds: {
            // What is not a certificate inside of the frame of one.
            let frame = "-----BEGIN CERTIFICATE-----\nMIIBAA==\n-----END CERTIFICATE-----\n"
            let key = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n"
            return [
                [0] + .piece(frame.utf8) + key.utf8,
                [1] + Array("https://ingest.example:8443/a/%2Fb/c~/".utf8),
                [1] + Array("https://[2001:db8::7]/".utf8),
            ]
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        if input.byte() % 2 == 0 {
            let certificates = String(fuzzed: input.piece())
            try keep(StoredTexts.problem(pem: certificates, key: String(fuzzed: input.rest())))
        } else {
            try keep(StoredTexts.problem(url: String(fuzzed: input.rest())))
        }
    }

    /// Throws when a promise was broken.
    private static func keep(_ problem: String?) throws(FuzzFailure) {
        if let problem { throw FuzzFailure(problem) }
    }

    private static let recordingWords = [
        "\"version\":", "\"track\":", "\"number\":", "\"decodeTime\":", "\"byteCount\":", "9223372036854775807",
        "-9223372036854775808", "1e19", "{\"check\":\"", "\"segment\":{", "\"dropped\":{", "\"closed\":", "\n",
        "styp", "prft", "moof", "mdat", "emsg",
    ]
}
