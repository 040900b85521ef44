// yyjson, which parses into a tree without changing the text.
#include "msgpack.h"
#include "task.h"
#include "yyjson.h"

static std::string_view text_of(yyjson_val *value) { return {yyjson_get_str(value), yyjson_get_len(value)}; }
static uint64_t number(yyjson_val *object, const char *key) { return yyjson_get_uint(yyjson_obj_get(object, key)); }

template <class Visit> static void for_each(const Json &json, const char *key, Visit visit) {
    yyjson_doc *document = yyjson_read(json.text, json.length, 0);
    yyjson_val *array = yyjson_obj_get(yyjson_doc_get_root(document), key), *item;
    size_t index, count;
    yyjson_arr_foreach(array, index, count, item) visit(item);
    yyjson_doc_free(document);
}

Answer partial_tweets(const Json &json) {
    Answer answer;
    for_each(json, "statuses", [&](yyjson_val *status) {
        answer.count++;
        answer.add_text(text_of(yyjson_obj_get(status, "created_at")));
        answer.add_text(text_of(yyjson_obj_get(status, "text")));
        answer.numbers += number(status, "id");
        // A null counts as 0.
        answer.numbers += number(status, "in_reply_to_status_id");
        yyjson_val *user = yyjson_obj_get(status, "user");
        answer.numbers += number(user, "id");
        answer.add_text(text_of(yyjson_obj_get(user, "screen_name")));
        answer.numbers += number(status, "retweet_count") + number(status, "favorite_count");
    });
    return answer;
}

Answer distinct_user_id(const Json &json) {
    std::vector<uint64_t> ids;
    for_each(json, "statuses", [&](yyjson_val *status) {
        ids.push_back(number(yyjson_obj_get(status, "user"), "id"));
        yyjson_val *quoted = yyjson_obj_get(status, "retweeted_status");
        if (quoted != nullptr) ids.push_back(number(yyjson_obj_get(quoted, "user"), "id"));
    });
    return distinct(ids);
}

Answer points(const Json &json) {
    Answer answer;
    for_each(json, "coordinates", [&](yyjson_val *point) {
        answer.count++;
        answer.real += yyjson_get_real(yyjson_obj_get(point, "x"));
        answer.real += yyjson_get_real(yyjson_obj_get(point, "y"));
        answer.real += yyjson_get_real(yyjson_obj_get(point, "z"));
    });
    return answer;
}

static void write(yyjson_val *value) {
    switch (yyjson_get_type(value)) {
        case YYJSON_TYPE_BOOL: return packed.boolean(yyjson_get_bool(value));
        case YYJSON_TYPE_STR: return packed.text(text_of(value));
        case YYJSON_TYPE_NUM:
            if (yyjson_is_uint(value)) return packed.natural(yyjson_get_uint(value));
            if (yyjson_is_sint(value)) return packed.integer(yyjson_get_sint(value));
            return packed.real(yyjson_get_real(value));
        case YYJSON_TYPE_ARR: {
            size_t place = packed.array(), index, count;
            yyjson_val *item;
            yyjson_arr_foreach(value, index, count, item) write(item);
            return packed.end(place, (uint32_t)yyjson_arr_size(value));
        }
        case YYJSON_TYPE_OBJ: {
            size_t place = packed.object(), index, count;
            yyjson_val *key, *member;
            yyjson_obj_foreach(value, index, count, key, member) {
                packed.text(text_of(key));
                write(member);
            }
            return packed.end(place, (uint32_t)yyjson_obj_size(value));
        }
        default: return packed.null();
    }
}

Answer json2msgpack(const Json &json) {
    packed.begin(json.length);
    yyjson_doc *document = yyjson_read(json.text, json.length, 0);
    write(yyjson_doc_get_root(document));
    yyjson_doc_free(document);
    return packed_answer();
}
