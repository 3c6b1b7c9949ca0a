import Foundation
import HTTPTypes
import HomeTypes
import Hummingbird
import NIOCore

/// Reads and writes bodies in JSON.
enum JSONBody {
    /// The largest JSON body, in bytes: an SDP offer with its escapes.
    static let maximumSize = 160 * 1024

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
        let bytes = try await request.bytes(upTo: limit)
        if bytes.readableBytes > 0, !request.hasMediaType("application/json") {
            throw HTTPFailure.unsupportedMediaType(expected: "application/json")
        }
        return bytes.readableBytes > 0 ? Data(bytes.readableBytesView) : Data("{}".utf8)
    }
}
