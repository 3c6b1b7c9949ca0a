import Transport

/// Somewhere that recordings can be uploaded to: what proves the gateway to the server, and the server to the gateway.
public struct UploadEndpoint: Codable, Equatable, Sendable {
    /// How the gateway proves who it is.
    public enum Kind: Codable, Equatable, Sendable {
        /// HTTPS with a client certificate (mutual TLS), or without one.
        case tls(certificateChain: String?, privateKey: String?)
        /// A store that speaks S3, with its region.
        case s3(SignatureV4.Credentials, region: String)

        /// The texts that must never reach a log. Of a key each line counts, because a message may quote one.
        public var secrets: [String] {
            switch self {
            case .tls(_, let key):
                (key ?? "").split(whereSeparator: \.isNewline).map(String.init).filter { !$0.hasPrefix("-----") }
            case .s3(let credentials, _): [credentials.secretAccessKey] + [credentials.sessionToken].compactMap(\.self)
            }
        }
    }

    /// Its id, from 1. Connections name it as `tlsEndpointID`. It is never given to another endpoint while the gateway
    /// knows of it.
    public var id: UInt16
    /// Its name, which the owner gave.
    public var name: String
    /// How the gateway proves who it is.
    public var kind: Kind
    /// The certificates of the authorities that sign the server's, in PEM; nil for those that the system trusts.
    public var rootCertificates: String?

    /// Describes an endpoint.
    public init(id: UInt16, name: String, kind: Kind, rootCertificates: String? = nil) {
        self.id = id
        self.name = name
        self.kind = kind
        self.rootCertificates = rootCertificates
    }

    /// The texts that must never reach a log.
    public var secrets: [String] { kind.secrets }

    /// Its description without secrets.
    public var summary: UploadEndpointSummary {
        var summary = UploadEndpointSummary(id: id, name: name, kind: .tls)
        summary.trustsSystemRoots = rootCertificates == nil
        summary.rootCertificates = rootCertificates.map(PEMMaterial.descriptions) ?? []
        switch kind {
        case .tls(let chain, _): summary.clientCertificate = chain.flatMap { PEMMaterial.descriptions($0).first }
        case .s3(let credentials, let region):
            summary.kind = .s3
            summary.region = region
            summary.accessKeyId = credentials.accessKeyID
        }
        return summary
    }
}

/// What may be shown of an endpoint.
public struct UploadEndpointSummary: Codable, Equatable, Sendable {
    /// What kind it is.
    public enum Kind: String, Codable, Sendable { case tls, s3 }

    /// What may be shown of a certificate.
    public struct Certificate: Codable, Equatable, Sendable {
        /// Whom it names.
        public var subject: String
        /// When it stops being valid, in RFC 3339.
        public var expiresAt: String
        /// The SHA-256 of the certificate, in hexadecimal digits.
        public var fingerprint: String
    }

    /// Its id.
    public var id: UInt16
    /// Its name.
    public var name: String
    /// What kind it is.
    public var kind: Kind
    /// Whether servers with a certificate of a public authority are trusted.
    public var trustsSystemRoots = true
    /// The authorities that are trusted instead.
    public var rootCertificates: [Certificate] = []
    /// The gateway's own certificate.
    public var clientCertificate: Certificate?
    /// The region of a store.
    public var region: String?
    /// The public part of a store's keys.
    public var accessKeyId: String?

    init(id: UInt16, name: String, kind: Kind) {
        self.id = id
        self.name = name
        self.kind = kind
    }
}
