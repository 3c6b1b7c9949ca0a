import Foundation
import HTTPTypes
import HomeTypes
import Hummingbird
import NIOCore

/// Reads and writes bodies.
enum JSONBody {
    /// The largest JSON body, in bytes: an SDP offer with its escapes.
    static let maximumSize = 160 * 1024
    /// The largest SDP body, in bytes. Browsers' largest offers are a tenth of it.
    static let maximumSDPSize = 64 * 1024

    /// A response that contains a value.
    static func response(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return response(json: try encoder.encode(value), status: status)
    }

    /// A response that holds a value that is JSON already.
    static func response(json data: Data, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(bytes: data)))
    }

    /// A value from a request's JSON body. An absent body reads as `{}`.
    static func read<Value: Decodable>(_ type: Value.Type, from request: Request) async throws -> Value {
        try decode(type, try await data(from: request))
    }

    /// A value from the bytes of a JSON body.
    static func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch let error as DecodingError {
            throw HomeError(error, body: data)
        }
    }

    /// The bytes of a request's JSON body. An absent body reads as `{}`.
    static func data(from request: Request, upTo limit: Int = maximumSize) async throws -> Data {
        let bytes = try await self.bytes(of: request, upTo: limit)
        if bytes.readableBytes > 0, !hasMediaType("application/json", request) {
            throw HTTPFailure.unsupportedMediaType(expected: "application/json")
        }
        return bytes.readableBytes > 0 ? Data(bytes.readableBytesView) : Data("{}".utf8)
    }

    /// The body of a request with another media type, as text.
    static func text(mediaType: String, from request: Request) async throws -> String {
        guard hasMediaType(mediaType, request) else {
            throw HTTPFailure.unsupportedMediaType(expected: mediaType)
        }
        let bytes = try await self.bytes(of: request, upTo: maximumSDPSize)
        guard let text = String(bytes: bytes.readableBytesView, encoding: .utf8) else {
            throw HomeError.invalidArgument("the body is not UTF-8 text")
        }
        return text
    }

    /// The body of a request with one of several other media types, as bytes.
    static func bytes(mediaTypes: [String], limit: Int, from request: Request) async throws -> [UInt8] {
        guard mediaTypes.contains(where: { hasMediaType($0, request) }) else {
            throw HTTPFailure.unsupportedMediaType(expected: mediaTypes[0])
        }
        return Array(try await bytes(of: request, upTo: limit).readableBytesView)
    }

    private static func bytes(of request: Request, upTo limit: Int) async throws -> ByteBuffer {
        // If a client announces that it will send too much, its body is not read at all.
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw HTTPFailure.contentTooLarge(limit: limit)
        }
        do {
            return try await request.body.collect(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw HTTPFailure.contentTooLarge(limit: limit)
        }
    }

    static func hasMediaType(_ expected: String, _ request: Request) -> Bool {
        let given = request.headers[.contentType]?.prefix { $0 != ";" }
        return given?.trimmingCharacters(in: .whitespaces).lowercased() == expected
    }
}
